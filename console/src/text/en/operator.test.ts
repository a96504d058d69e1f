import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { operatorTexts } from "./operator.ts";

const services = new URL("../../../../services/", import.meta.url);

/** A daily quota, as services declare it. Other limits are declared as `limit`, or are of something unfinished. */
const declaredQuota = /(?<!limit: )\{ name: "(?!unfinished_)(\w+)", maximum/g;

it("has words for all daily quotas of the services, and for no others", () => {
  const files = readdirSync(services, { recursive: true, encoding: "utf8" }).filter(
    (path) => path.endsWith(".ts") && !path.endsWith(".test.ts") && !path.includes("node_modules/"),
  );
  const declared = files.flatMap((file) =>
    [...readFileSync(new URL(file, services), "utf8").matchAll(declaredQuota)].map(([, name]) => name),
  );
  expect(Object.keys(operatorTexts.operator.quotaNames).sort()).toEqual([...new Set(declared)].sort());
});
