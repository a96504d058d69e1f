import { describeWebhookMessages } from "../../reference/messages.mjs";

type MessagesPage = ReturnType<typeof describeWebhookMessages>;
type MessageField = MessagesPage["headers"][number];

/** Returns the Markdown copy of the page of all webhook messages. `absolute` returns the absolute URL of a path. */
export function renderMessagesMarkdown(asyncapi: Record<string, unknown>, absolute: (path: string) => string): string {
  const page = describeWebhookMessages(asyncapi);
  return `${[
    "# All webhook messages",
    page.info.description,
    `AsyncAPI document: ${absolute("/asyncapi.json")}`,
    "## Channel",
    page.channel.description,
    page.server.description,
    "## Headers",
    renderFieldTable("Header", page.headers),
    "## Signatures",
    ...page.signatures.map(({ name, description }) => `**\`${name}\`:** ${description}`),
    "## Messages",
    ...page.messages.flatMap(({ event, summary, operation, guideUrl, fields, example }) => [
      `### ${event}`,
      `${summary}. Operation: \`${operation}\`. When it is sent: ${absolute(guideUrl)}`,
      renderFieldTable("Field", fields),
      "Example:",
      `\`\`\`json\n${JSON.stringify(example.payload, null, 2)}\n\`\`\``,
    ]),
    "## Objects",
    ...page.objects.flatMap(({ name, description, fields }) => [
      `### ${name}`,
      `${description}.`,
      renderFieldTable("Field", fields),
    ]),
  ].join("\n\n")}\n`;
}

function renderFieldTable(kind: string, fields: MessageField[]): string {
  const rows = fields.map(({ name, type, isRequired, description, values, object }) => {
    const typeText = object === undefined ? type : `${type}: ${object.name}`;
    const valueText = values.length === 0 ? "" : ` (${values.map((value) => `\`${value}\``).join(", ")})`;
    const text = `${description}${valueText}`.replaceAll("|", "\\|");
    return `| \`${name}\` | ${typeText} | ${isRequired ? "yes" : "no"} | ${text} |`;
  });
  return [`| ${kind} | Type | Required | Description |`, "|---|---|---|---|", ...rows].join("\n");
}
