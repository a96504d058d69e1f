import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { renderChangelogFeed } from "./feed.mjs";
import { readChangelogReleases, renderChangelog } from "./releases.mjs";

const changelog = `# Changelog

This page lists changes.

## Unreleased

### For operators

- **Names**: lists have \`names\`.

## 2.1.0 (2027-01-02)

### For partners

- **Keys & scopes**: \`GET /v1/auth/keys/current\` returns <what> a key may do.

## 2.0.0 (2026-11-29)

The first release.

### For partners

- Orders.

### For operators

- Servers.
`;
const releases = readChangelogReleases(changelog);

describe("the pages of the changelog", () => {
  it("have all releases, each with the notes for its readers only", () => {
    expect(renderChangelog(releases, "partners")).toBe(`## Unreleased {#unreleased}

No changes for partners.

## 2.1.0 (2027-01-02) {#v2-1-0}

- **Keys & scopes**: \`GET /v1/auth/keys/current\` returns <what> a key may do.

## 2.0.0 (2026-11-29) {#v2-0-0}

The first release.

- Orders.
`);
    expect(renderChangelog(releases, "operators")).toContain(
      "## 2.1.0 (2027-01-02) {#v2-1-0}\n\nNo changes for operators.\n",
    );
  });

  it("leave out nothing: a note for nobody is an error", () => {
    const text = changelog.replace("### For operators", "### For everybody");
    expect(() => readChangelogReleases(text)).toThrow('CHANGELOG.md, Unreleased: "For everybody" is for nobody');
  });

  it("contain every note of CHANGELOG.md once", () => {
    const text = readFileSync(new URL("../../CHANGELOG.md", import.meta.url), "utf8");
    const all = readChangelogReleases(text);
    const pages = (["partners", "operators"] as const).map((audience) => renderChangelog(all, audience)).join("\n");
    const notes = text.split("\n").filter((line) => line.startsWith("- "));
    expect(notes.length).toBeGreaterThan(10);
    for (const note of notes) expect(pages.split(`${note}\n`).length - 1, note).toBe(1);
  });
});

describe("the feeds of the changelog", () => {
  const feed = renderChangelogFeed(releases, "partners");

  it("contain the releases that changed something for their readers, newest first, with ids that never change", () => {
    expect([...feed.matchAll(/<id>(.*)<\/id>/g)].map(([, id]) => id)).toEqual([
      "tag:pragma.example,2026:changelog",
      "tag:pragma.example,2026:changelog/2.1.0",
      "tag:pragma.example,2026:changelog/2.0.0",
    ]);
    expect(renderChangelogFeed(releases, "operators")).not.toContain("2.1.0");
  });

  it("have the notes as escaped HTML, and the time of the newest release", () => {
    expect(feed).toContain("&lt;strong&gt;Keys &amp;amp; scopes&lt;/strong&gt;");
    expect(feed).toContain("returns &amp;lt;what&amp;gt; a key");
    expect(feed).toContain("<updated>2027-01-02T00:00:00Z</updated>");
    expect(feed).toContain('href="https://docs.pragma.example/docs/changelog#v2-1-0"');
  });
});
