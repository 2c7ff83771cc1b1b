"""Every legacy library side by side, directly and through the proxy: how long members take to come and to go."""
