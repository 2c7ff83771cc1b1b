"""kip848-proxy, or python -m proxy: what signals mean while there is nobody yet, or nobody any more, to heed them.

To read all its modules takes the proxy a fifth of a second, so they are read within `main`.
"""

import signal
import sys

# As shells say it.
INTERRUPTED = 128 + signal.SIGINT


def main() -> int:
    code = INTERRUPTED
    try:
        # Who started us may have held them back from itself, and so from us: then nothing but a kill -9 would end us.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM, signal.SIGINT})
        if sys.argv[1:2] == ["serve"]:
            # A reload that is asked for as early as this would end the process. It waits until `server.py` lets it in.
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})
        from proxy import cli

        code = cli.main()
    except* KeyboardInterrupt:
        # Bare, or from among trio's tasks. Whoever said it knows.
        pass
    return code


if __name__ == "__main__":
    sys.exit(main())
