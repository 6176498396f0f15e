/* cell.h - a process for one plugin alone: started, spoken to, ended.
 *
 * Layer: core; knows nothing of plugins or policy. The one who asks (a worker) runs this
 * side; isolated.c is the other one, in the same program.
 *
 * A socket (SOCK_SEQPACKET) carries messages of one small size, and a piece of memory what
 * they are about: one half is the asker's to write, the other the cell's. The cell is
 * believed in nothing. It cannot change the memory's size (sealed), so that looking at it
 * is never a fault; it may go on writing while we look, so what it wrote is copied out
 * before anything of it is read; a message of another size, type or nonce ends it.
 *
 * Executing the program costs more than all that a cell does before its plugin runs, so
 * where several are wanted at once one is executed, a seed, and the others are forked off
 * it while it has been told nothing: it knows of no plugin, option or call, and maps no
 * cell's memory. They are our children as it is, not its; once they run, nothing ties them
 * to it or to each other, but that their libraries lie at the same addresses.
 */
#ifndef PAWL_CORE_CELL_H
#define PAWL_CORE_CELL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/* Address space; pages are taken as they are touched. Room for the largest event, as large
 * arguments made of it and facts beside it, and for the largest edit with a result. */
#define CELL_QUESTION_MAX ((size_t)200 << 20)
#define CELL_ANSWER_MAX ((size_t)136 << 20)
#define CELL_MEMORY (CELL_QUESTION_MAX + CELL_ANSWER_MAX)

#define CELL_SOCKET_FD 3 /* what the cell starts with */
#define CELL_MEMORY_FD 4

enum cell_type {
	CELL_OPEN = 1, /* asker: this plugin, with these options */
	CELL_ASK,      /* asker: a policy hook */
	CELL_TELL,     /* asker: an observing hook */
	CELL_DESCRIBE, /* asker: load it, and say what it is */
	CELL_SPLIT,    /* asker: fork another; its two descriptors come along */
	CELL_REPLY,    /* cell: to any of them */
};

struct cell_message {
	uint64_t nonce; /* drawn for each question; the answer repeats it */
	uint32_t type;
	uint32_t zero;
	uint64_t len; /* bytes of the half that is the sender's; of a split, the number of it */
};

struct cell {
	pid_t pid; /* 0: none runs */
	int watch; /* pidfd, -1 where the kernel has none */
	int socket;
	uint64_t nonce;
	char *question;	    /* ours to write */
	const char *answer; /* the cell's to write, at any time */
};

/* What became of a cell that did not answer. */
enum cell_end { CELL_SIGNAL, CELL_EXIT, CELL_LATE, CELL_NONSENSE };

/* Starts this very program as `pawl-worker isolated`; in a session of its own, with an
 * environment of its own and nothing open but the two descriptors. It dies with us. */
int cell_start(struct cell *cell, struct error *err);

/* The same from a seed, which was started and has been sent nothing. -errno: there is no
 * such cell; of the seed itself, it may be dead. */
int cell_split(struct cell *seed, struct cell *cell, struct error *err);

/* Says that a question of len bytes stands at cell->question. -errno: nobody is there. */
int cell_send(struct cell *cell, enum cell_type type, size_t len);

/* Waits for its answer; 0 with how many bytes of cell->answer belong to it, or -1 with what
 * happened. deadline_ns is on CLOCK_MONOTONIC. */
int cell_receive(struct cell *cell, int64_t deadline_ns, size_t *ret_len, enum cell_end *ret_end);

/* Gives memory back that only a large question or answer needed. */
void cell_trim(struct cell *cell, size_t question_len, size_t answer_len);

/* Kills it with what it started and waits for it; *ret_status as waitpid has it, when it is
 * known (0 else). Nothing happens when none runs. */
void cell_stop(struct cell *cell, int *ret_status);

/* The program, for tests; "/proc/self/exe". */
extern const char *cell_program;

#endif
