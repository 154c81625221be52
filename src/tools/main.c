/* main.c - the `quern` command: chooses the subcommand. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tool.h"

static const struct command {
  const char *name;
  int (*run)(int argc, char **argv);
  const char *what;
} commands[] = {
    {"run", command_run, "run a kernel of an OpenCL C file on arrays, pictures and numbers"},
    {"build", command_build, "compile OpenCL C files ahead of time, to objects, libraries, headers and text"},
    {"cache", command_cache, "look after what compiled programs are kept in"},
    {"devices", command_devices, "list the devices that kernels can run on"},
    {"abi", command_abi, "check the binary interface that headers, libraries and objects give"},
};
#define COMMAND_COUNT (sizeof commands / sizeof *commands)

static void usage(FILE *out) {
  fputs("quern COMMAND [words]   compute kernels on whatever this machine has\n\n", out);
  for (size_t i = 0; i < COMMAND_COUNT; i++) fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].what);
  fputs(
      "\nquern COMMAND --help shows a command's options and examples; quern --version tells the version.\n"
      "\n"
      "A first kernel\n"
      "  quern run examples/saxpy.cl --arg x=range:1000 --arg y=fill:1000:1 --arg a=2 --print y:3\n",
      out);
}

static int run_command(int argc, char **argv) {
  if (argc < 2) {
    usage(stderr);
    return TOOL_USAGE;
  }
  if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
    usage(stdout);
    return TOOL_OK;
  }
  if (!strcmp(argv[1], "--version")) {
    uint32_t v = qn_version();
    printf("quern %u.%u.%u\n", v >> 22, (v >> 12) & 1023, v & 4095);
    return TOOL_OK;
  }
  const char *names[COMMAND_COUNT];
  for (size_t i = 0; i < COMMAND_COUNT; i++) {
    if (!strcmp(argv[1], commands[i].name)) return commands[i].run(argc - 1, argv + 1);
    names[i] = commands[i].name;
  }
  const char *near = tool_nearest(argv[1], names, COMMAND_COUNT);
  return tool_error(TOOL_USAGE, "there is no command '%s'%s%s%s; quern --help lists them", argv[1],
                    near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

/* A standard stream that is closed must not become a file that the command opens: it gets one that fails as it does. */
static void keep_streams(void) {
  for (int fd; (fd = open("/dev/null", O_RDONLY)) >= 0;) {
    if (fd <= 2) continue;
    close(fd);
    break;
  }
}

int main(int argc, char **argv) {
  keep_streams();
  signal(SIGXFSZ, SIG_IGN); /* a file over the limit is an error like a full disk */
  int status = run_command(argc, argv);
  if ((fflush(stdout) != 0 || ferror(stdout)) && status == TOOL_OK)
    status = tool_error(TOOL_FAILED, "standard output: %s", strerror(errno));
  return status;
}
