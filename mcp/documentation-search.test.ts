import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { maxPassageLength, readGuidePassages } from "./documentation-passages.ts";
import { createDocumentationSearch, type DocumentationSearch } from "./documentation-search.ts";

const docsUrl = "https://docs.bistro.example/docs";
let search: DocumentationSearch;
let guidesFolder: string;
beforeAll(() => {
  const packageFolder = dirname(createRequire(import.meta.url).resolve("@pragma/mcp/package.json"));
  const openapi = readFileSync(join(packageFolder, "..", "contracts", "openapi.json"));
  guidesFolder = join(packageFolder, "..", "docs-portal", "docs");
  search = createDocumentationSearch({ openapi, docsUrl, folder: guidesFolder });
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
  ["what about GDPR", "/docs/data-model#personal-data"],
  ["droit RGPD", "/docs/data-model#personal-data"],
  ["how many covers", "/docs/glossary#guest"],
  ["is a service charge a sale", "/docs/glossary#tip"],
])("finds the passage about %s", async (query, path) => {
  const { passages } = await search(query, 5);
  expect(passages.map(({ url }) => url)).toContainEqual(expect.stringContaining(`https://docs.bistro.example${path}`));
  for (const { text } of passages) expect(text.length).toBeLessThanOrEqual(maxPassageLength);
});

it("finds nothing for words that the documentation does not contain", async () => {
  expect(await search("xyzzy plugh", 5)).toEqual({ passages: [], foundCount: 0 });
});

it("finds every term by the other words for it", async () => {
  const synonyms: Record<string, string[]> = JSON.parse(
    readFileSync(join(guidesFolder, "search-synonyms.json"), "utf8"),
  );
  for (const [term, words] of Object.entries(synonyms))
    for (const word of words) {
      const { passages } = await search(word, 5);
      const found = passages.map(({ title, text }) => `${title} ${text}`.toLowerCase());
      const isFound = (part: string) => found.some((passage) => passage.includes(part.toLowerCase()));
      // Programming languages are names of a section, not part of its text.
      expect(passages.length, word).toBeGreaterThan(0);
      if (!["php", "python", "typescript"].includes(term))
        expect(term.split(" ").every(isFound), `${word}: ${found.join("\n")}`).toBe(true);
    }
});

it("finds the guides with programs in a language", async () => {
  const { passages } = await search("python", 5);
  expect(passages.map(({ url }) => url.replace(docsUrl, ""))).toContainEqual(
    expect.stringMatching(/^\/(?:keep-a-copy|catalog-sync|push-a-till|month-of-orders|webhook-receivers)/),
  );
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

<CodeBlock language="python" title="days.py">{program}</CodeBlock>

## State {#day-state}

| State | Meaning |
|---|---|
| \`open\` | Not **closed** |

### Why not closed?

${"word ".repeat(200)}
`;
  const passages = readGuidePassages(mdx, { url: "https://docs.example/docs/days" });
  expect(passages.slice(0, 2)).toEqual([
    { title: "Days", url: "https://docs.example/docs/days", names: "python", text: "What a day is.\nA day has tills." },
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
