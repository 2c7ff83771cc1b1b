/* LD_PRELOAD for the client of a proxy that rewrites nothing: what the client would send to the broker's own port,
 * where the broker's answers lead it, goes to the proxy's. As a NAT rule would do, without asking for root.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

int connect(int fd, const struct sockaddr *address, socklen_t size) {
    int (*real)(int, const struct sockaddr *, socklen_t) = dlsym(RTLD_NEXT, "connect");
    struct sockaddr_in there;
    if (address->sa_family != AF_INET || size < sizeof there) return real(fd, address, size);
    memcpy(&there, address, sizeof there);
    if (ntohs(there.sin_port) == atoi(getenv("REDIRECT_FROM"))) there.sin_port = htons(atoi(getenv("REDIRECT_TO")));
    return real(fd, (struct sockaddr *)&there, sizeof there);
}
