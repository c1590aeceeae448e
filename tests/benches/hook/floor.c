/* The minimal work of a hook: reads the input from the agent, connects, sends a line, reads a line. */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int main(int count, char **arguments) {
    static char input[65536], answer[65536];
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    if (count != 3 || read(0, input, sizeof input) <= 0) return 1;
    strncpy(address.sun_path, arguments[1], sizeof address.sun_path - 1);
    int connection = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(connection, (struct sockaddr *)&address, sizeof address)) return 2;
    size_t length = strlen(arguments[2]);
    if (write(connection, arguments[2], length) != (ssize_t)length) return 3;
    size_t had = 0;
    while (!had || answer[had - 1] != '\n') {
        ssize_t bytes = read(connection, answer + had, sizeof answer - had);
        if (bytes <= 0) return 4;
        had += bytes;
    }
    return 0;
}
