/** Who reads the notes of a release. Each audience has a page and a feed of its own. */
export const changelogAudiences = /** @type {const} */ (["partners", "operators"]);

/** @typedef {typeof changelogAudiences[number]} ChangelogAudience */

/**
 * A section of CHANGELOG.md. A release without a version is not published yet.
 * @typedef {{
 *   title: string,
 *   version?: string,
 *   date?: string,
 *   anchor: string,
 *   introduction: string,
 *   notes: Partial<Record<ChangelogAudience, string>>,
 * }} ChangelogRelease
 */

/**
 * Returns the releases in CHANGELOG.md, newest first. Texts are Markdown.
 * @param {string} changelog
 * @returns {ChangelogRelease[]}
 * @throws Error if a part of a release is for neither partners nor operators.
 */
export function readChangelogReleases(changelog) {
  const [, ...sections] = changelog.split(/^## /m);
  return sections.map((section) => {
    const [head = "", ...parts] = section.split(/^### /m);
    const [title = "", ...introduction] = head.split("\n");
    const [, version, date] = /^(\d+\.\d+\.\d+) \((\d{4}-\d{2}-\d{2})\)$/.exec(title) ?? [];
    /** @type {ChangelogRelease["notes"]} */
    const notes = {};
    for (const part of parts) {
      const audience = changelogAudiences.find((name) => part.startsWith(`For ${name}\n`));
      if (audience === undefined) throw new Error(`CHANGELOG.md, ${title}: "${part.split("\n")[0]}" is for nobody`);
      notes[audience] = part.slice(part.indexOf("\n")).trim();
    }
    return {
      title,
      ...(version !== undefined && date !== undefined && { version, date }),
      anchor: version === undefined ? "unreleased" : `v${version.replaceAll(".", "-")}`,
      introduction: introduction.join("\n").trim(),
      notes,
    };
  });
}

/**
 * Returns the content of the page for an audience: the notes of all releases.
 * @param {ChangelogRelease[]} releases
 * @param {ChangelogAudience} audience
 */
export function renderChangelog(releases, audience) {
  return releases
    .map(({ title, anchor, introduction, notes }) =>
      [`## ${title} {#${anchor}}`, introduction, notes[audience] ?? `No changes for ${audience}.`]
        .filter((text) => text !== "")
        .join("\n\n"),
    )
    .join("\n\n")
    .concat("\n");
}
