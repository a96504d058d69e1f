import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gatewayConfigSchema } from "@pragma/gateway/config";
import { commonServiceConfigSchema } from "@pragma/runtime/config/runtime-config";
import { findEnclosingPackageFolder } from "@pragma/runtime/process/package-folder";
import { loadServiceDefinitions } from "@pragma/services/definitions";
import { describe, expect, it } from "vitest";
import type { z } from "zod";

const pageFile = join(
  findEnclosingPackageFolder(import.meta.resolve("@pragma/services/definitions")),
  "..",
  "docs-portal",
  "docs",
  "rate-limits.mdx",
);

const serviceConfigSchemas = (await loadServiceDefinitions()).map(({ config }) => config as z.ZodObject);

/** The schemas of all environment variables, by variable name. */
const variableSchemas: Record<string, z.ZodType> = Object.assign(
  {},
  ...[commonServiceConfigSchema, gatewayConfigSchema, ...serviceConfigSchemas].map(({ shape }) => shape),
);

/** The rows of the tables of limits that have variables: the variables, and the text of the column Default. */
const rows = readFileSync(pageFile, "utf8")
  .split("\n")
  .filter((line) => line.startsWith("| "))
  .map((line) => line.split("|").map((cell) => cell.trim()))
  .flatMap((cells) => {
    const defaultText = cells.slice(2, -2).join(" ");
    return [...(cells.at(-2) ?? "").matchAll(/`([A-Z_]+)`/g)].map(([, variable = ""]) => ({ defaultText, variable }));
  });

describe("the table of limits", () => {
  it("has rows for the variables of limits", () => {
    expect(rows.length).toBeGreaterThan(40);
  });

  it.each(rows)("states the default of $variable", ({ defaultText, variable }) => {
    const schema = variableSchemas[variable];
    expect(schema, `${variable} is not a variable of any service`).toBeDefined();
    const defaultValue = schema?.safeParse(undefined).data;
    // A limit without a fixed default depends on the machine, and the table describes it in words.
    if (defaultValue === undefined) return;
    expect(formatLimit(variable, Number(defaultValue)).filter((text) => containsNumber(defaultText, text))).not.toEqual(
      [],
    );
  });
});

/** Returns the texts with which the table can state a value: a number, or an amount with a larger unit. */
function formatLimit(variable: string, value: number): string[] {
  const number = value.toLocaleString("en-US");
  if (variable.endsWith("_MB")) return [`${number} MB`];
  if (variable.endsWith("_KB")) return [`${number} KB`];
  if (variable.endsWith("_MS")) return [`${value / 60_000} minute`, `${value / 3_600_000} hour`];
  if (!variable.includes("BYTES")) return [number];
  const units = { KB: 2 ** 10, MB: 2 ** 20 };
  const quotaUnits = { MB: 1e6, GB: 1e9 };
  return Object.entries(variable.endsWith("_PER_DAY") ? quotaUnits : units).map(
    ([unit, bytes]) => `${(value / bytes).toLocaleString("en-US")} ${unit}`,
  );
}

/** Returns whether the text contains the amount, and not only as a part of a larger number. */
function containsNumber(text: string, amount: string): boolean {
  return new RegExp(`(?<![\\d,.])${amount.replaceAll(".", "\\.")}(?![\\d,])`).test(text);
}
