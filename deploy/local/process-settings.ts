/** How `npm start` and the benchmarks run the product's processes: as in the image, whose Dockerfile says why. */
export const processSettings = {
  flags: ["--v8-pool-size=1"],
  environment: { MALLOC_ARENA_MAX: "2", MALLOC_MMAP_THRESHOLD_: "131072", MALLOC_TRIM_THRESHOLD_: "131072" },
};
