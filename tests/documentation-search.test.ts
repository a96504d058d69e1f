import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { readGuidePassages, readOperationPassages } from "@pragma/mcp/documentation-passages";
import { findEnclosingPackageFolder } from "@pragma/runtime/process/package-folder";
import { beforeAll, describe, expect, it } from "vitest";

const portalFolder = join(
  findEnclosingPackageFolder(import.meta.resolve("@pragma/services/definitions")),
  "..",
  "docs-portal",
);

const synonymsByTerm: Record<string, string[]> = JSON.parse(
  readFileSync(join(portalFolder, "docs", "search-synonyms.json"), "utf8"),
);

interface SearchHit {
  kind: string;
  title: string;
  url: string;
}

/** Queries, with the URL or the beginning of the URL of the result that must be first. */
const expectedFirstResults: [query: string, url: string][] = [
  // Fields and parameters
  ["reportRecordedPayments", "/api/get-report#"],
  ["priceList", "/api/list-products#"],
  ["deviceList", "/api/get-own-location#"],
  ["nextPageToken", "/api/list-reports#"],
  ["revisionHash", "/docs/order-live#"],
  ["stockImpactIndicator", "/api/"],
  ["payment_mode", "/api/"],
  // Error codes
  ["rate_limited", "/docs/errors#rate_limited"],
  ["till_conflict", "/docs/errors#till_conflict"],
  ["scope missing", "/docs/errors#scope_missing"],
  ["errors#till_conflict", "/docs/errors#till_conflict"],
  ["/docs/errors#till_conflict", "/docs/errors#till_conflict"],
  // The detail of an error
  ["This API key does not exist. Check that you copied the whole key.", "/docs/errors#key_invalid"],
  ["A push never changes an existing till", "/docs/errors#till_conflict"],
  ["requestId", "/api/list-failed-requests"],
  ["request id", "/docs/errors#format"],
  ["status 400", "/docs/errors#status-400"],
  ["status 404", "/docs/errors#status-404"],
  ["HTTP 429", "/docs/rate-limits"],
  ["503 error", "/docs/errors#status-503"],
  // Operations
  ["Push a till", "/docs/push-a-till"],
  ["list reports", "/api/list-reports"],
  ["/v2/reports", "/api/list-reports"],
  ["getLiveOrder", "/api/get-live-order"],
  ["rotate secret", "/api/rotate-recipient-secret"],
  // Guides, in the words of the guide and in others
  ["pagination", "/docs/pagination"],
  ["webhooks", "/docs/webhooks"],
  ["authentication", "/docs/authentication"],
  ["timezone", "/docs/requests"],
  ["time zones", "/docs/requests"],
  ["sandbox", "/docs/getting-started"],
  ["SDK", "/docs/client"],
  ["refund", "/docs/edge-cases"],
  ["void", "/docs/edge-cases"],
  ["throttling", "/docs/rate-limits"],
  ["429", "/docs/rate-limits"],
  ["verify signature", "/docs/webhook"],
  ["flask", "/docs/webhook-receivers"],
  ["order.paid", "/docs/webhook-events"],
  ["till", "/docs/glossary#till"],
  ["payment", "/docs/"],
  ["idempotency key", "/docs/idempotency"],
  ["postman", "/docs/collections"],
  ["go live", "/docs/production"],
  ["best sellers", "/docs/ask-your-data"],
  ["MCP server", "/docs/assistants"],
  ["claude", "/docs/assistants"],
  ["dashboard", "/docs/ask-your-data"],
  ["Z report", "/docs/glossary"],
  ["receipt", "/docs/glossary"],
  ["release notes", "/docs/changelog"],
  ["how do I get real time orders", "/docs/order-live"],
  ["authentification", "/docs/authentication"],
  // Other words for terms of the field
  ["GDPR", "/docs/data-model#personal-data"],
  ["RGPD", "/docs/data-model#personal-data"],
  ["right to be forgotten", "/docs/data-model#personal-data"],
  ["covers", "/docs/glossary#guest"],
  ["service charge", "/docs/glossary#tip"],
  ["gratuities", "/docs/glossary#tip"],
  ["cash register", "/docs/glossary#till"],
  ["waiter", "/docs/glossary#clerk"],
  // Programming languages
  ["python", "/docs/getting-started"],
  ["python webhook", "/docs/webhook-receivers"],
  ["follow.py", "/docs/keep-a-copy"],
  ["django", "/docs/getting-started"],
  // Pages of operators
  ["RSS", "/docs/changelog"],
  ["self-hosting", "/docs/operators"],
  ["dead letters", "/docs/operators#dead-letters"],
];

let findHits: (query: string) => SearchHit[];
let synonymUrls: string[];
let indexText: string;
beforeAll(async () => {
  indexText = readFileSync(join(portalFolder, "build", "search-index.json"), "utf8");
  const load = (path: string) => import(pathToFileURL(join(portalFolder, path)).href);
  const { parseSearchIndex, search } = await load("src/search/search-index.ts");
  const index = await parseSearchIndex(indexText);
  findHits = (query) => search(index, query);
  synonymUrls = Object.keys((await load("plugins/search/synonyms.ts")).searchSynonymsByUrl);
});

describe("the search", () => {
  it.each(expectedFirstResults)("finds %s first at %s", (query, url) => {
    const hits = findHits(query);
    expect(hits[0]?.url.slice(0, url.length), hits.map((hit) => `${hit.kind} ${hit.url}`).join("\n")).toBe(url);
  });

  it("finds every field of a report", () => {
    const document = JSON.parse(readFileSync(join(portalFolder, "build", "openapi.json"), "utf8"));
    for (const name of Object.keys(document.components.schemas.ReportV2.properties))
      expect(
        findHits(name).map(({ title }) => title),
        name,
      ).toContain(name);
  });

  it("finds nothing for a word that the site does not contain", () => {
    expect(findHits("xylophone")).toEqual([]);
  });

  it.each(Object.entries(synonymsByTerm))(
    "finds %s by other words, which the site does not use as titles",
    (term, words) => {
      const [first] = findHits(term);
      expect(first, term).toBeDefined();
      for (const word of words) {
        const hits = findHits(word);
        expect(hits[0], word).toEqual(first);
        const titles = hits.filter(({ kind }) => kind !== "field").map(({ title }) => title.toLowerCase());
        expect(titles, word).not.toContain(word.toLowerCase());
      }
    },
  );

  it("has synonyms only for pages that exist", () => {
    const urls = new Set(
      Object.values(JSON.parse(indexText).storedFields as Record<string, SearchHit>).map(({ url }) => url),
    );
    expect(synonymUrls.filter((url) => !urls.has(url))).toEqual([]);
  });
});

it("the passages that assistants find with search_docs are sections of the site", () => {
  const documentFile = join(portalFolder, "build", "openapi.json");
  const guides = readdirSync(join(portalFolder, "docs")).filter((name) => name.endsWith(".mdx"));
  const passages = [
    ...guides.flatMap((name) =>
      readGuidePassages(readFileSync(join(portalFolder, "docs", name), "utf8"), {
        url: `/docs/${basename(name, ".mdx")}`,
      }),
    ),
    ...readOperationPassages(JSON.parse(readFileSync(documentFile, "utf8")), "/api"),
  ];
  const urls = [...new Set(passages.map(({ url }) => url))];
  expect(urls.length).toBeGreaterThan(300);
  const missing = urls.filter((url) => {
    const [page = "", anchor] = url.split("#");
    const file = join(portalFolder, "build", page, "index.html");
    if (!existsSync(file)) return true;
    return anchor !== undefined && !new RegExp(` id="?${anchor}[" >]`).test(readFileSync(file, "utf8"));
  });
  expect(missing).toEqual([]);
});
