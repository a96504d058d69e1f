import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { listedTools } from "./answer-message.ts";

const packageFolder = dirname(createRequire(import.meta.url).resolve("@pragma/mcp/package.json"));

it("the tools are at most six, and their definitions have fewer than 16,000 characters, which are about 4,000 tokens", () => {
  expect(listedTools.length).toBeLessThanOrEqual(6);
  expect(JSON.stringify({ tools: listedTools }).length).toBeLessThan(16_000);
});

it("the schemas of arguments use only what all clients understand", () => {
  const schemas = JSON.stringify(listedTools.map(({ inputSchema }) => inputSchema));
  expect(schemas).not.toMatch(/"(?:\$schema|\$ref|propertyNames|oneOf|allOf)"|"type":\[/);
});

it("only orders are selected by the date on which they were opened", () => {
  const withOpenedOrders = listedTools.filter(({ inputSchema }) =>
    /orders were opened/.test(JSON.stringify(inputSchema)),
  );
  expect(withOpenedOrders.map(({ name }) => name)).toEqual(["orders_and_reports"]);
});

it("the guide has a row for each tool, and no other rows", () => {
  const guide = readFileSync(join(packageFolder, "..", "docs-portal", "docs", "assistants.mdx"), "utf8");
  const rows = [...guide.matchAll(/^\| `(\w+)` \| .* \| (?:`[\w:]+`(?:, `[\w:]+`)* )?\|$/gm)];
  expect(rows.map(([, name]) => name)).toEqual(listedTools.map(({ name }) => name));
});
