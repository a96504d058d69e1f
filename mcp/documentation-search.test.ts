import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { maxPassageLength, readGuidePassages } from "./documentation-passages.ts";
import { createDocumentationSearch, type DocumentationSearch } from "./documentation-search.ts";

const docsUrl = "https://docs.bistro.example/docs";
let search: DocumentationSearch;
beforeAll(() => {
  const packageFolder = dirname(createRequire(import.meta.url).resolve("@pragma/mcp/package.json"));
  const openapi = readFileSync(join(packageFolder, "..", "contracts", "openapi.json"));
  search = createDocumentationSearch({ openapi, docsUrl, folder: join(packageFolder, "..", "docs-portal", "docs") });
});

it.each([
  ["declared payment", "/docs/glossary#declared-payment"],
  ["how do I verify the signature of a webhook", "/docs/webhook-receivers"],
  ["rate limit", "/docs/rate-limits"],
  ["till_conflict", "/docs/errors#till_conflict"],
  ["what does it mean that a day is incomplete", "/docs/days"],
  ["list orders operation", "/api/list-orders"],
  ["business days", "/docs/glossary#business-day"],
  ["scopes of an API key", "/docs/authentication"],
])("finds the passage about %s", async (query, path) => {
  const { passages } = await search(query, 5);
  expect(passages.map(({ url }) => url)).toContainEqual(expect.stringContaining(`https://docs.bistro.example${path}`));
  for (const { text } of passages) expect(text.length).toBeLessThanOrEqual(maxPassageLength);
});

it("finds nothing for words that the documentation does not contain", async () => {
  expect(await search("xyzzy plugh", 5)).toEqual({ passages: [], foundCount: 0 });
});

it("reads guides without code, components and markup", () => {
  const mdx = `---
title: Days
description: What a day is.
---

import day from "@site/examples/day.json";

A [day](/docs/glossary#day) has \`tills\`.

\`\`\`sh
curl secret
\`\`\`

<ResponseCodeBlock of={day} />

## State {#day-state}

| State | Meaning |
|---|---|
| \`open\` | Not **closed** |

### Why not closed?

${"word ".repeat(200)}
`;
  const passages = readGuidePassages(mdx, { url: "https://docs.example/docs/days" });
  expect(passages.slice(0, 2)).toEqual([
    { title: "Days", url: "https://docs.example/docs/days", names: "", text: "What a day is.\nA day has tills." },
    {
      title: "Days: State",
      url: "https://docs.example/docs/days#day-state",
      names: "day-state",
      text: "State – Meaning\nopen – Not closed",
    },
  ]);
  expect(passages.slice(2).map(({ url }) => url)).toEqual(
    Array.from({ length: 2 }, () => "https://docs.example/docs/days#why-not-closed"),
  );
  expect(passages.every(({ text }) => text.length <= maxPassageLength)).toBe(true);
});
