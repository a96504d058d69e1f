import { expect, it } from "vitest";
import { readBenchOptions } from "./bench-options.ts";

it("runs all benchmarks in full by default", () => {
  expect(readBenchOptions([], ["a", "b"])).toEqual({ only: undefined, quick: false, profile: false });
});

it("runs the benchmarks that --only names", () => {
  expect(readBenchOptions(["--only", "a, b", "--quick"], ["a", "b", "c"])).toMatchObject({
    only: ["a", "b"],
    quick: true,
  });
});

it("rejects unknown benchmarks and unknown options", () => {
  expect(() => readBenchOptions(["--only", "z"], ["a", "b"])).toThrow(/no benchmark z\.\n.+ the benchmarks are a, b\./);
  expect(() => readBenchOptions(["--fast"], ["a"])).toThrow("--fast");
});
