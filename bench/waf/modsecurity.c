/* libmodsecurity as one of several engines that bench/waf.py asks: modsecurity DIRECTORY PREAMBLE SETTINGS RUNS. Reads requests, and
 * prints a line for each: the rules that match, or, if RUNS is not 0, the CPU time of one inspection in nanoseconds. Files of rules that it does
 * not read are named on standard error, and left out. */
#include <dirent.h>
#include <modsecurity/modsecurity.h>
#include <modsecurity/rules_set.h>
#include <modsecurity/transaction.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define HEADERS_MAX 4096

struct piece {
    unsigned char *bytes;
    size_t length;
};

struct message {
    struct piece method, target, protocol, body, answer;
    int headers, answered, status;
    struct piece header[HEADERS_MAX][2], answered_header[HEADERS_MAX][2];
};

static int prints, found;

static void fail(const char *what) {
    fprintf(stderr, "%s\n", what);
    exit(1);
}

/* A piece of bytes: their number, a colon, and they; with a zero behind them. Returns 0 at the end. */
static int read_piece(struct piece *piece) {
    if (scanf("%zu", &piece->length) != 1) return 0;
    if (getchar() != ':' || !(piece->bytes = malloc(piece->length + 1))) fail("a piece is broken");
    if (fread(piece->bytes, 1, piece->length, stdin) != piece->length) fail("a piece is cut");
    piece->bytes[piece->length] = 0;
    return 1;
}

static int read_number(void) {
    struct piece piece;
    if (!read_piece(&piece)) fail("a number is missing");
    int number = atoi((char *)piece.bytes);
    free(piece.bytes);
    return number;
}

static int read_headers(struct piece header[][2]) {
    int count = read_number();
    if (count > HEADERS_MAX) fail("there are too many headers");
    for (int i = 0; i < count; i++)
        if (!read_piece(&header[i][0]) || !read_piece(&header[i][1])) fail("a header is cut");
    return count;
}

static int read_message(struct message *m) {
    if (!read_piece(&m->method)) return 0;
    read_piece(&m->target);
    read_piece(&m->protocol);
    m->headers = read_headers(m->header);
    read_piece(&m->body);
    m->status = read_number();
    m->answered = read_headers(m->answered_header);
    return read_piece(&m->answer);
}

static void free_headers(struct piece header[][2], int count) {
    for (int i = 0; i < count; i++) {
        free(header[i][0].bytes);
        free(header[i][1].bytes);
    }
}

static void free_message(struct message *m) {
    free_headers(m->header, m->headers);
    free_headers(m->answered_header, m->answered);
    struct piece *all[] = {&m->method, &m->target, &m->protocol, &m->body, &m->answer};
    for (int i = 0; i < 5; i++) free(all[i]->bytes);
}

/* Prints what stands between quotes behind a name, as JSON: the library escapes values already. */
static void print_field(const char *line, const char *name) {
    const char *start = strstr(line, name);
    putchar('"');
    for (const char *at = start ? start + strlen(name) : ""; *at && *at != '"'; at++)
        if (*at != '\\' && (unsigned char)*at >= ' ') putchar(*at);
    putchar('"');
}

static void note(void *data, const void *line) {
    (void)data;
    if (!prints) return;
    const char *id = strstr(line, "[id \"");
    if (!id) return;
    printf("%s[%d,", found++ ? "," : "", atoi(id + 5));
    print_field(line, "[msg \"");
    putchar(']');
}

static void inspect(ModSecurity *engine, RulesSet *rules, struct message *m) {
    Transaction *transaction = msc_new_transaction(engine, rules, NULL);
    msc_process_connection(transaction, "127.0.0.1", 12345, "127.0.0.1", 80);
    /* It writes "HTTP/" itself. */
    const char *version = (char *)m->protocol.bytes;
    if (!strncmp(version, "HTTP/", 5)) version += 5;
    msc_process_uri(transaction, (char *)m->target.bytes, (char *)m->method.bytes, version);
    for (int i = 0; i < m->headers; i++)
        msc_add_n_request_header(transaction, m->header[i][0].bytes, m->header[i][0].length, m->header[i][1].bytes, m->header[i][1].length);
    msc_process_request_headers(transaction);
    if (m->body.length) msc_append_request_body(transaction, m->body.bytes, m->body.length);
    msc_process_request_body(transaction);
    if (m->status) {
        for (int i = 0; i < m->answered; i++)
            msc_add_n_response_header(transaction, m->answered_header[i][0].bytes, m->answered_header[i][0].length,
                                      m->answered_header[i][1].bytes, m->answered_header[i][1].length);
        msc_process_response_headers(transaction, m->status, "HTTP/1.1");
        msc_append_response_body(transaction, m->answer.bytes, m->answer.length);
        msc_process_response_body(transaction);
    }
    msc_process_logging(transaction);
    msc_transaction_cleanup(transaction);
}

static long cpu_ns(void) {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000000L + (used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1000L;
}

static int is_rules(const struct dirent *entry) {
    size_t length = strlen(entry->d_name);
    return length > 5 && !strcmp(entry->d_name + length - 5, ".conf");
}

static void add_file(RulesSet *rules, const char *path, int is_needed) {
    const char *error = NULL;
    if (msc_rules_add_file(rules, path, &error) >= 0) return;
    fprintf(stderr, "not read: %s: %s\n", path, error ? error : "");
    if (is_needed) exit(1);
}

int main(int count, char **arguments) {
    if (count != 5) fail("usage: modsecurity DIRECTORY PREAMBLE SETTINGS RUNS");
    long runs = atol(arguments[4]);
    prints = runs == 0;
    ModSecurity *engine = msc_init();
    msc_set_log_cb(engine, note);
    RulesSet *rules = msc_create_rules_set();
    char path[4096];
    add_file(rules, arguments[2], 1);
    snprintf(path, sizeof path, "%s/rules/@crs-setup.conf.example", arguments[1]);
    add_file(rules, path, 1);
    add_file(rules, arguments[3], 1);
    struct dirent **entries;
    snprintf(path, sizeof path, "%s/rules/@owasp_crs", arguments[1]);
    int files = scandir(path, &entries, is_rules, alphasort);
    for (int i = 0; i < files; i++) {
        snprintf(path, sizeof path, "%s/rules/@owasp_crs/%s", arguments[1], entries[i]->d_name);
        add_file(rules, path, 0);
    }
    static struct message m;
    while (read_message(&m)) {
        found = 0;
        if (prints) putchar('[');
        inspect(engine, rules, &m);
        if (prints) puts("]");
        if (!prints) {
            long before = cpu_ns();
            for (long i = 0; i < runs; i++) inspect(engine, rules, &m);
            printf("%ld\n", (cpu_ns() - before) / runs);
        }
        free_message(&m);
    }
    return 0;
}
