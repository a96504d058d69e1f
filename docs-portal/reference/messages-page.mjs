import { describeWebhookMessages } from "./messages.mjs";
import { clean } from "./plugin-internals.mjs";

/**
 * Returns the page of all webhook messages as MDX. `ApiItem` provides the components that the page contains.
 * @param {Record<string, any>} document the AsyncAPI document
 */
export function createMessagesPageMdx(document) {
  const { info, server, channel, signatures, headers, messages, objects } = describeWebhookMessages(document);
  const [summary = "", ...notes] = info.description.split("\n\n");
  return `${[
    '---\nid: webhook-messages\ntitle: "All webhook messages"\nsidebar_label: All messages (AsyncAPI)',
    'description: "The headers, fields and examples of all webhook messages, from the AsyncAPI document."',
    "hide_title: true\n---\n",
    '<Heading as="h1">All webhook messages</Heading>\n',
    `${clean(summary)} This page is generated from the [AsyncAPI](https://www.asyncapi.com) document of the webhooks. From the document, you can also generate types and receivers. The API serves it at \`/asyncapi.json\`, too. [Webhooks](/docs/webhooks) explains how to subscribe to events.\n`,
    '<Export url="/asyncapi.json" format="AsyncAPI" />\n',
    ...notes.map((/** @type {string} */ note) => `${clean(note)}\n`),
    "## Channel {#channel}\n",
    `The document has one channel, \`endpoint\`. ${clean(channel.description)}\n`,
    `${clean(server.description)}\n`,
    "The API sends each message with an operation:\n",
    "| Operation | Message | Sent when |\n|---|---|---|",
    ...messages.map(
      ({ operation, event, anchor, summary: when }) =>
        `| \`${operation}\` | [\`${event}\`](#${anchor}) | ${clean(when)} |`,
    ),
    "\n## Headers {#headers}\n",
    "All messages have these headers.\n",
    `<MessageFieldTable kind="Header" ${fieldsAttribute(headers)} />\n`,
    "## Signatures {#signatures}\n",
    ...signatures.map((signature) => `**\`${signature.name}\`:** ${clean(signature.description)}\n`),
    "To verify signatures, use the code in [Webhook receivers](/docs/webhook-receivers).\n",
    "## Messages {#messages}\n",
    "The body of each message is an object with the fields `meta` and `data`. Required fields are in every message, but can be `null` if their type says so.\n",
    ...messages.flatMap(({ event, anchor, summary: when, guideUrl, fields, example }) => [
      `### ${event} {#${anchor}}\n`,
      `${clean(when)}. [When it is sent](${guideUrl})\n`,
      `<MessageFieldTable ${fieldsAttribute(fields)} />\n`,
      `<MessageExample event="${event}" example={${JSON.stringify(example)}} />\n`,
    ]),
    "## Objects {#objects}\n",
    "Messages contain these objects.\n",
    ...objects.flatMap(({ name, anchor, description, fields }) => [
      `### ${name} {#${anchor}}\n`,
      `${clean(description)}.\n`,
      `<MessageFieldTable ${fieldsAttribute(fields)} />\n`,
    ]),
  ].join("\n")}`;
}

/** Returns the fields as an attribute. The components need the descriptions only as HTML. */
function fieldsAttribute(/** @type {import("./messages.mjs").MessageField[]} */ fields) {
  return `fields={${JSON.stringify(fields, (key, value) => (key === "description" ? undefined : value))}}`;
}
