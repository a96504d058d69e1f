import { expect, it } from "vitest";
import { readOptions } from "./options.ts";

it("measures everything in full unless told otherwise", () => {
  expect(readOptions([], ["a", "b"])).toEqual({ only: undefined, quick: false, profile: false });
});

it("measures the rows that are named", () => {
  expect(readOptions(["--only", "a, b", "--quick"], ["a", "b", "c"])).toMatchObject({ only: ["a", "b"], quick: true });
});

it("refuses rows that there are not, and options that there are not", () => {
  expect(() => readOptions(["--only", "z"], ["a", "b"])).toThrow(/no row z\.\n.+ the rows are a, b\./);
  expect(() => readOptions(["--fast"], ["a"])).toThrow("--fast");
});
