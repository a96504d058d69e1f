/** The kinds of documents that reporting stores and lists. */
export const documentKinds = ["report", "order"] as const;

export type DocumentKind = (typeof documentKinds)[number];
