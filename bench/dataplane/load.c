/* A load generator that is never the bottleneck. It knows nothing of Kafka but the four bytes of length before a frame.
 *
 *   load requests HOST PORT FRAME CONNECTIONS COUNT   each connection sends FRAME, reads the answer, again; COUNT in all
 *   load connects HOST PORT FRAME COUNT               connect, FRAME, answer, close; one after the other
 *   load idle     HOST PORT FRAME COUNT               COUNT connections, one FRAME each, then nothing until stdin ends
 *   load slow     HOST PORT FRAME COUNT RATE          COUNT connections ask for FRAME and read RATE bytes a second each
 *
 * FRAME is a file with its length in front. Prints one JSON object.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

struct connection {
    int fd;
    int header_read;          /* bytes of the answer's length that are here */
    unsigned char header[4];
    int64_t left;             /* bytes of the answer that have yet to come */
    double asked;
};

static unsigned char *frame;
static size_t frame_size;
static char sink[1 << 20];
static double *latencies;
static long answered;
static int64_t bytes_read;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static void read_frame_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) fail(path);
    frame = malloc(1 << 20);
    frame_size = fread(frame, 1, 1 << 20, file);
    fclose(file);
}

static int dial(const char *host, int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    int one = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
    inet_pton(AF_INET, host, &address.sin_addr);
    if (connect(fd, (struct sockaddr *)&address, sizeof address)) fail("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return fd;
}

static void ask(struct connection *c) {
    c->asked = now();
    for (size_t sent = 0; sent < frame_size;) {
        ssize_t n = send(c->fd, frame + sent, frame_size - sent, MSG_NOSIGNAL);
        if (n < 0) fail("send");
        sent += n;
    }
}

/* Read what is there. 1 when the answer is whole, 0 when more must come. */
static int receive(struct connection *c, int flags) {
    for (;;) {
        if (c->header_read < 4) {
            ssize_t n = recv(c->fd, c->header + c->header_read, 4 - c->header_read, flags);
            if (n < 0 && errno == EAGAIN) return 0;
            if (n <= 0) { fprintf(stderr, "closed by the peer\n"); exit(1); }
            c->header_read += n;
            if (c->header_read == 4) {
                uint32_t size;
                memcpy(&size, c->header, 4);
                c->left = ntohl(size);
                bytes_read += 4 + c->left;
            }
            continue;
        }
        if (!c->left) {
            c->header_read = 0;
            return 1;
        }
        ssize_t n = recv(c->fd, sink, c->left < (int64_t)sizeof sink ? c->left : (int64_t)sizeof sink, flags);
        if (n < 0 && errno == EAGAIN) return 0;
        if (n <= 0) { fprintf(stderr, "closed by the peer\n"); exit(1); }
        c->left -= n;
    }
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void report(double seconds) {
    qsort(latencies, answered, sizeof *latencies, by_value);
    printf("{\"count\": %ld, \"seconds\": %.6f, \"bytes\": %lld, \"p50_us\": %.1f, \"p99_us\": %.1f}\n", answered, seconds,
           (long long)bytes_read, latencies[answered / 2] * 1e6, latencies[(long)(answered * 0.99)] * 1e6);
}

static void requests(const char *host, int port, int connections, long count) {
    int set = epoll_create1(0);
    struct connection *all = calloc(connections, sizeof *all);
    latencies = calloc(count + connections, sizeof *latencies);
    for (int i = 0; i < connections; i++) {
        all[i].fd = dial(host, port);
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &all[i]};
        epoll_ctl(set, EPOLL_CTL_ADD, all[i].fd, &event);
    }
    long asked = 0;
    double start = now();
    for (int i = 0; i < connections && asked < count; i++, asked++) ask(&all[i]);
    while (answered < count) {
        struct epoll_event events[256];
        int n = epoll_wait(set, events, 256, 30000);
        if (n <= 0) { fprintf(stderr, "no answer within 30 s\n"); exit(1); }
        for (int i = 0; i < n; i++) {
            struct connection *c = events[i].data.ptr;
            if (!receive(c, MSG_DONTWAIT)) continue;
            latencies[answered++] = now() - c->asked;
            if (asked < count) { ask(c); asked++; }
        }
    }
    report(now() - start);
}

static void connects(const char *host, int port, long count) {
    latencies = calloc(count, sizeof *latencies);
    double start = now();
    while (answered < count) {
        struct connection c = {0};
        double began = now();
        c.fd = dial(host, port);
        ask(&c);
        receive(&c, 0);
        latencies[answered++] = now() - began;
        close(c.fd);
    }
    report(now() - start);
}

static void idle(const char *host, int port, int count) {
    for (int i = 0; i < count; i++) {
        struct connection c = {.fd = dial(host, port)};
        ask(&c);
        receive(&c, 0);
    }
    printf("{\"count\": %d}\n", count);
    fflush(stdout);
    while (read(0, sink, sizeof sink) > 0) {}
}

static void slow(const char *host, int port, int count, int rate) {
    int *all = calloc(count, sizeof *all);
    for (int i = 0; i < count; i++) {
        struct connection c = {.fd = dial(host, port)};
        for (int k = 0; k < 4; k++) ask(&c);
        all[i] = c.fd;
    }
    printf("{\"count\": %d}\n", count);
    fflush(stdout);
    struct pollfd input = {.fd = 0, .events = POLLIN};
    while (poll(&input, 1, 100) == 0)
        for (int i = 0; i < count; i++)
            if (recv(all[i], sink, rate / 10, MSG_DONTWAIT) == 0) { fprintf(stderr, "closed by the peer\n"); exit(1); }
}

int main(int argc, char **argv) {
    if (argc < 6) { fprintf(stderr, "see the comment at the top\n"); return 2; }
    int port = atoi(argv[3]);
    read_frame_file(argv[4]);
    if (!strcmp(argv[1], "requests")) requests(argv[2], port, atoi(argv[5]), atol(argv[6]));
    else if (!strcmp(argv[1], "connects")) connects(argv[2], port, atol(argv[5]));
    else if (!strcmp(argv[1], "idle")) idle(argv[2], port, atoi(argv[5]));
    else if (!strcmp(argv[1], "slow")) slow(argv[2], port, atoi(argv[5]), atoi(argv[6]));
    else return 2;
    return 0;
}
