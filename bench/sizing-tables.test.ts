import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { buildSizingTables, replaceSizingTables, type SizingFigures } from "./sizing-tables.ts";

const deployFolder = join(import.meta.dirname, "..", "deploy");

it("deploy/SIZING.md contains the tables that follow from the committed figures", () => {
  const { figures } = JSON.parse(readFileSync(join(deployFolder, "sizing-figures.json"), "utf8")) as {
    figures: SizingFigures;
  };
  const page = readFileSync(join(deployFolder, "SIZING.md"), "utf8");
  expect(replaceSizingTables(page, buildSizingTables(figures))).toBe(page);
});
