import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { groupOperations, operationPageId, renderBlocks } from "./document.mjs";
import { createOperationPage } from "./operation-page.mjs";

/** @typedef {import("./document.mjs").DocumentedOperation} DocumentedOperation */

/**
 * Writes the pages of a reference into a folder: a page and its data for each operation, an introduction, and the
 * sidebar.
 * @param {string} folder
 * @param {Record<string, any>} document
 * @param {DocumentedOperation[]} operations
 * @param {{ title: string; summary: string; notes: { title: string; text: string }; description: string; documentPath: string; links?: object[] }} options
 * `summary` and the text of `notes`, which follows the list of resources, are Markdown. `documentPath` is the path of the OpenAPI document on the site. `links` are added to the
 * end of the sidebar.
 */
export function writeReferencePages(folder, document, operations, options) {
  const groups = groupOperations(document, operations);
  mkdirSync(folder, { recursive: true });
  const write = (/** @type {string} */ name, /** @type {string} */ text) => writeFileSync(join(folder, name), text);
  for (const each of operations) {
    const id = operationPageId(each.operation.operationId);
    write(`${id}.json`, JSON.stringify(createOperationPage(document, each)));
    write(`${id}.mdx`, operationPageSource(id, each.operation));
  }
  const { title, summary, notes, description, documentPath, links = [] } = options;
  const cards = groups.map(({ label, description: about, operations: grouped }) => ({
    label,
    description: about,
    operations: grouped.map(({ method, path, operation }) => ({
      id: operationPageId(operation.operationId),
      label: sidebarLabel({ method, path, operation }),
      method,
    })),
  }));
  const texts = { summary: renderBlocks(summary), notes: { title: notes.title, html: renderBlocks(notes.text) } };
  write("index.json", JSON.stringify({ title, ...texts, documentPath, cards }));
  write("index.mdx", introductionSource(title, description));
  const categories = groups.map(({ label, isCollapsed, operations: grouped }) => ({
    type: "category",
    label,
    collapsed: isCollapsed,
    items: grouped.map(({ method, path, operation }) => ({
      type: "doc",
      id: operationPageId(operation.operationId),
      label: sidebarLabel({ method, path, operation }),
      className: `api-method ${method}`,
    })),
  }));
  const introductionItem = { type: "doc", id: "index", label: "Introduction" };
  write("sidebar.json", JSON.stringify([introductionItem, ...categories, ...links]));
}

/** @param {DocumentedOperation} documented @returns {string} the name of the event, or the summary of the operation */
function sidebarLabel({ method, path, operation }) {
  return method === "event" ? path : operation.summary;
}

/** @param {string} id @param {Record<string, any>} operation */
function operationPageSource(id, { summary, description }) {
  return `---
id: ${id}
title: ${JSON.stringify(summary)}
description: ${JSON.stringify(firstSentence(description))}
hide_title: true
hide_table_of_contents: true
---

import { OperationPage } from "@site/src/reference/OperationPage.tsx";
import page from "./${id}.json";

<OperationPage page={page} />
`;
}

/** @param {string} title @param {string} description */
function introductionSource(title, description) {
  return `---
id: index
slug: /
title: ${JSON.stringify(title)}
description: ${JSON.stringify(description)}
hide_title: true
hide_table_of_contents: true
---

import { ReferenceIntroduction } from "@site/src/reference/ReferenceIntroduction.tsx";
import page from "./index.json";

<ReferenceIntroduction page={page} />
`;
}

/** @param {string} text */
function firstSentence(text) {
  return /^.*?[.!?](?=\s|$)/s.exec(text)?.[0].replaceAll("`", "") ?? text;
}
