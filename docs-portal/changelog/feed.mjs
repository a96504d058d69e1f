import { micromark } from "micromark";
import { builtSiteUrl } from "../installation-urls.mjs";

/** The pages and the feeds of the changelog, by audience. */
const changelogPaths = {
  partners: { page: "/docs/changelog", feed: "/changelog.xml", title: "Changelog of Pragma API" },
  operators: {
    page: "/docs/changelog-operators",
    feed: "/changelog-operators.xml",
    title: "Changelog of Pragma API for operators",
  },
};

/**
 * Returns the Atom feed (RFC 4287) of the releases that changed something for an audience. The ids are tag URIs (RFC
 * 4151), which are the same in every installation and never change, so that feed readers show each release once.
 * @param {import("./releases.mjs").ChangelogRelease[]} releases
 * @param {import("./releases.mjs").ChangelogAudience} audience
 */
export function renderChangelogFeed(releases, audience) {
  const { page, feed, title } = changelogPaths[audience];
  const feedId = `tag:pragma.example,2026:${feed.slice(1, -".xml".length)}`;
  const published = releases.flatMap(({ version, date, ...release }) => {
    const notes = release.notes[audience];
    return version === undefined || date === undefined || notes === undefined
      ? []
      : [{ ...release, notes, version, time: `${date}T00:00:00Z` }];
  });
  const entries = published.map(
    ({ version, time, anchor, introduction, notes }) => `  <entry>
    <id>${feedId}/${version}</id>
    <title>Version ${version}</title>
    <published>${time}</published>
    <updated>${time}</updated>
    <link rel="alternate" type="text/html" href="${builtSiteUrl}${page}#${anchor}"/>
    <content type="html">${escapeXml(micromark(`${introduction}\n\n${notes}`))}</content>
  </entry>
`,
  );
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en" xml:base="${builtSiteUrl}${page}">
  <id>${feedId}</id>
  <title>${title}</title>
  <updated>${published[0]?.time ?? "2026-01-01T00:00:00Z"}</updated>
  <author><name>Pragma</name></author>
  <link rel="self" type="application/atom+xml" href="${builtSiteUrl}${feed}"/>
  <link rel="alternate" type="text/html" href="${builtSiteUrl}${page}"/>
${entries.join("")}</feed>
`;
}

/** @param {string} text */
function escapeXml(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
