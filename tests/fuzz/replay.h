// The program of a fuzz target without a fuzzer: every file in a folder is an input, and TAP says
// which ones the target has survived. SPDX-License-Identifier: BSD-2-Clause
#ifndef REPLAY_H
#define REPLAY_H

#include <dirent.h>
#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A short read makes a short input, which is one, too. */
static void Replay(const char *name) {
  uint8_t bytes[4096];
  char path[4096];
  FILE *file;
  size_t size;

  REQUIRE(snprintf(path, sizeof path, "%s/%s", CORPUS, name) < (int)sizeof path);
  file = fopen(path, "rb");
  REQUIRE(file);
  size = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  LLVMFuzzerTestOneInput(bytes, size);
}

int main(void) {
  DIR *folder = opendir(CORPUS);
  struct dirent *entry;
  int count = 0;

  if (!folder) {
    puts("1..0 # SKIP the inputs in " CORPUS " are not here");
    return 0;
  }
  while ((entry = readdir(folder))) {
    if (entry->d_name[0] == '.') continue;
    Replay(entry->d_name);
    printf("ok %d - %s\n", ++count, entry->d_name);
  }
  printf("1..%d\n", count);
  closedir(folder);
  return count ? 0 : 1;
}

#endif
