import { readFileSync } from "node:fs";
import { join } from "node:path";
import { findEnclosingPackageFolder } from "@pragma/runtime/process/package-folder";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type DocumentationSiteUnderTest, startSiteInBrowser } from "./documentation-site.ts";

const repositoryFolder = join(findEnclosingPackageFolder(import.meta.resolve("@pragma/services/definitions")), "..");
const changelog = readFileSync(join(repositoryFolder, "CHANGELOG.md"), "utf8");

let documentationSite: DocumentationSiteUnderTest;
beforeAll(async () => {
  documentationSite = await startSiteInBrowser();
});
afterAll(() => documentationSite?.close());

interface FeedEntry {
  id: string;
  updated: string;
  link: string;
  text: string;
}

/** A script that parses a feed with the browser, and returns its fields and the text of its entries. */
const readFeed = (path: string) => `(async () => {
  const feed = new DOMParser().parseFromString(await (await fetch("${path}")).text(), "application/xml");
  const textOf = (parent, name) => parent.querySelector(":scope > " + name)?.textContent;
  const root = feed.documentElement;
  return {
    error: feed.querySelector("parsererror")?.textContent,
    namespace: root.namespaceURI,
    id: textOf(root, "id"),
    updated: textOf(root, "updated"),
    author: root.querySelector(":scope > author > name")?.textContent,
    self: root.querySelector(":scope > link[rel=self]").getAttribute("href"),
    entries: [...root.querySelectorAll(":scope > entry")].map((entry) => ({
      id: textOf(entry, "id"),
      updated: textOf(entry, "updated"),
      link: entry.querySelector("link").getAttribute("href"),
      text: new DOMParser().parseFromString(textOf(entry, "content"), "text/html").body.textContent,
    })),
  };
})()`;

describe.each([
  { page: "/docs/changelog", feed: "/changelog.xml", own: "For partners", other: "For operators" },
  { page: "/docs/changelog-operators", feed: "/changelog-operators.xml", own: "For operators", other: "For partners" },
])("the changelog at $page", ({ page: path, feed: feedPath, own, other }) => {
  /** The notes under the headings of an audience, without markup. */
  const notesOf = (heading: string) =>
    [...changelog.matchAll(new RegExp(`^### ${heading}\\n\\n((?:- .*\\n)+)`, "gm"))].flatMap(([, list = ""]) =>
      [...list.matchAll(/^- (.*)$/gm)].map(([, note = ""]) => note.replace(/[*`]/g, "")),
    );

  it("shows the notes for its readers, and not those for others", async () => {
    const { page, close } = await documentationSite.openTab(path);
    const text = (await page.locator("article").textContent()) ?? "";
    expect(notesOf(own).length).toBeGreaterThan(0);
    for (const note of notesOf(own)) expect(text).toContain(note);
    for (const note of notesOf(other)) expect(text).not.toContain(note);
    expect(await page.getByRole("link", { name: "Atom feed" }).getAttribute("href")).toBe(feedPath);
    await close();
  });

  it("has a valid feed, whose entries lead to the releases on the page", async () => {
    const { page, close } = await documentationSite.openTab(path);
    const announced = await page.locator('link[type="application/atom+xml"]').getAttribute("href");
    expect(announced).toBe("/changelog.xml");
    const feed: Record<string, string> & { entries: FeedEntry[] } = await page.evaluate(readFeed(feedPath));
    expect(feed.error).toBeUndefined();
    expect(feed.namespace).toBe("http://www.w3.org/2005/Atom");
    expect(feed.author).toBe("Pragma");
    expect(new URL(feed.self ?? "").pathname).toBe(feedPath);
    const ids = [feed.id, ...feed.entries.map(({ id }) => id)];
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id).toMatch(/^tag:pragma\.example,2026:changelog[\w./-]*$/);
    expect(feed.entries.length).toBeGreaterThan(0);
    expect(feed.updated).toBe(feed.entries[0]?.updated);
    for (const { updated, link, text } of feed.entries) {
      expect(new Date(updated).toISOString()).toBe(updated.replace("Z", ".000Z"));
      expect(text.length).toBeGreaterThan(20);
      const { pathname, hash } = new URL(link);
      expect(pathname).toBe(path);
      expect(await page.locator(`[id="${hash.slice(1)}"]`).count()).toBe(1);
    }
    await close();
  });
});
