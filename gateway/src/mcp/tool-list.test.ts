import { readFileSync } from "node:fs";
import { join } from "node:path";
import { findEnclosingPackageFolder } from "@pragma/runtime/process/package-folder";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { expect, it } from "vitest";
import { maxSubrequestResponseBytes } from "../forwarding/subrequests.ts";
import { mcpLimits } from "./mcp-route.ts";
import { listedTools } from "./mcp-server.ts";
import { tools } from "./tool-list.ts";

const docsFolder = join(findEnclosingPackageFolder(import.meta.url), "..", "docs-portal", "docs");
const readGuide = (name: string) => readFileSync(join(docsFolder, name), "utf8");

it("the tools are at most ten, and their definitions have fewer than 4,000 tokens of o200k_base", () => {
  expect(tools.length).toBeLessThanOrEqual(10);
  expect(countTokens(JSON.stringify({ tools: listedTools }))).toBeLessThan(4_000);
});

it("the schemas of the tools use only what all clients understand", () => {
  expect(JSON.stringify(listedTools)).not.toMatch(/"(?:\$schema|\$ref|propertyNames|oneOf|allOf)"|"type":\[/);
});

it("only find_orders selects by the date on which orders were opened", () => {
  const withOpenedOrders = listedTools.filter(({ inputSchema }) =>
    /orders were opened/.test(JSON.stringify(inputSchema)),
  );
  expect(withOpenedOrders.map(({ name }) => name)).toEqual(["find_orders"]);
  const properties = withOpenedOrders[0]?.inputSchema.properties as Record<string, { description?: string }>;
  for (const name of ["since", "until"]) expect(properties[name]?.description).not.toContain("business day");
});

it("the guide has a row for each tool, with its scope, and no other rows", () => {
  const rows = [...readGuide("assistants.mdx").matchAll(/^\| `(\w+)` \| .* \| (?:`([\w:]+)` )?\|$/gm)];
  expect(rows.map(([, name, scope]) => ({ name, scopes: scope ? [scope] : [] }))).toEqual(
    tools.map(({ name, scopes }) => ({ name, scopes })),
  );
});

it("the table of limits states the limits of the MCP server", () => {
  const [, table = ""] = /\{#limits-of-the-mcp-server\}\n(.*?)\n#/s.exec(readGuide("rate-limits.mdx")) ?? [];
  expect(table).toContain(`| ${mcpLimits.bodyBytes / 1024} KB |`);
  expect(table).toContain(`| Messages in a batch | ${mcpLimits.batchMessages} |`);
  const { concurrentCalls, concurrentCallsPerLocation, waitingCalls, waitingCallsPerLocation } = mcpLimits;
  for (const [row, limit, limitOfAll] of [
    ["Tool calls of a location that run", concurrentCallsPerLocation, concurrentCalls],
    ["Tool calls of a location that wait", waitingCallsPerLocation, waitingCalls],
  ])
    expect(table).toMatch(new RegExp(`^\\| ${row}.* \\| ${limit}; ${limitOfAll} of all locations \\|`, "m"));
  expect(table).toContain(`| ${maxSubrequestResponseBytes / 1024 / 1024} MB |`);
});
