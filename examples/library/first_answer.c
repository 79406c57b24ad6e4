/* Says what grew between snapshots, in C11 with the standard library alone; ends 1 where a budget is broken:
 *   first_answer OPERAND...
 */
#include <snapdiff/snapdiff.h>
#include <stdio.h>
#include <string.h>

static int fail(snapdiff_error* error) {
  fprintf(stderr, "%s\n", error->message);
  snapdiff_error_clear(error);
  return 2;
}

/* Number of a column by its name, -1 without one. */
static int64_t find(const struct ArrowSchema* schema, const char* name) {
  for (int64_t i = 0; i < schema->n_children; ++i) {
    if (strcmp(schema->children[i]->name, name) == 0) return i;
  }
  return -1;
}

/* Row `row` of a column of format "u": utf8 with 32-bit offsets. */
static void print_text(const struct ArrowArray* column, int64_t row) {
  const int32_t* end = column->buffers[1];
  const char* bytes = column->buffers[2];
  fwrite(bytes + end[row], 1, (size_t)(end[row + 1] - end[row]), stdout);
}

/* The table "culprits" out of its Arrow stream. */
static int print_culprits(const snapdiff_answer* answer, snapdiff_error* error) {
  struct ArrowArrayStream stream;
  struct ArrowSchema schema;
  struct ArrowArray batch;
  if (snapdiff_table(answer, "culprits", &stream, error) != SNAPDIFF_OK) return 0;
  if (stream.get_schema(&stream, &schema) != 0) return 0;
  if (stream.get_next(&stream, &batch) != 0) return 0;
  const struct ArrowArray* name = batch.children[find(&schema, "name")];
  const struct ArrowArray* file = batch.children[find(&schema, "file")];
  const int32_t* line = batch.children[find(&schema, "line")]->buffers[1];
  const int64_t* growth = batch.children[find(&schema, "growth")]->buffers[1];
  for (int64_t row = 0; row < batch.length; ++row) {
    print_text(name, row);
    printf(" at ");
    print_text(file, row);
    printf(":%d: %+lld bytes\n", (int)line[row], (long long)growth[row]);
  }
  batch.release(&batch);
  schema.release(&schema);
  stream.release(&stream);
  return 1;
}

int main(int argc, char** argv) {
  const snapdiff_option budgets[] = {{"budget", "total:5%"}, {NULL, NULL}};
  snapdiff_snapshots* opened = NULL;
  snapdiff_answer* answer = NULL;
  snapdiff_error error;
  if (snapdiff_open((const char* const*)(argv + 1), (size_t)(argc - 1), NULL, &opened, &error) != SNAPDIFF_OK)
    return fail(&error);
  if (snapdiff_gate(opened, budgets, &answer, &error) != SNAPDIFF_OK) {
    snapdiff_snapshots_free(opened);
    return fail(&error);
  }
  snapdiff_snapshots_free(opened);
  printf("%s: %s\n", snapdiff_text(answer, "headline"), snapdiff_text(answer, "figures"));
  const int failed = strcmp(snapdiff_text(answer, "result"), "failed") == 0;
  const int printed = print_culprits(answer, &error);
  snapdiff_answer_free(answer);
  if (!printed) return fail(&error);
  return failed;
}
