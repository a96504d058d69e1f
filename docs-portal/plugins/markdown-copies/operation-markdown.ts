import type { OpenApiDocument, OpenApiOperationObject, OpenApiSchemaObject } from "./openapi-document.ts";

interface DocumentedOperation {
  /** The method in upper case. */
  method: string;
  path: string;
  operation: OpenApiOperationObject;
}

/** Returns the Markdown copy of an operation's page, with its parameters, request body and responses. */
export function renderOperationMarkdown(
  document: OpenApiDocument,
  { method, path, operation }: DocumentedOperation,
): string {
  const { summary, description, parameters = [], requestBody, responses } = operation;
  const parts = [`# ${summary}`, `\`${method} ${path}\``, description];
  if (parameters.length > 0) {
    const rows = parameters.map(
      ({ name, in: place, required, description: about = "", schema = {} }) =>
        `| \`${name}\` | ${place} | ${escapePipes(describeParameterValues(document, schema))} | ` +
        `${required ? "yes" : "no"} | ${escapePipes(about)} |`,
    );
    const header = ["| Name | In | Values | Required | Description |", "|---|---|---|---|---|"];
    parts.push("## Parameters", [...header, ...rows].join("\n"));
  }
  for (const [type, { schema, example }] of Object.entries(requestBody?.content ?? {}))
    parts.push(`## Request body (${type})`, ...renderSchema(document, schema, example));
  parts.push("## Responses");
  for (const [status, { description: about, content = {} }] of Object.entries(responses)) {
    parts.push(`### ${status}`, about);
    // The bodies of error responses are omitted, because all have the format described in the introduction.
    if (!status.startsWith("2")) continue;
    for (const { schema, example } of Object.values(content)) parts.push(...renderSchema(document, schema, example));
  }
  return `${parts.join("\n\n")}\n`;
}

/** Returns the type, the limits and the default value of a parameter, such as `integer, 1 to 100, default 10`. */
function describeParameterValues(document: OpenApiDocument, schema: OpenApiSchemaObject): string {
  const whole = { ...resolveSchema(document, schema), ...schema };
  const { minimum, maximum, maxLength } = whole;
  const range = [minimum === undefined ? "" : `at least ${minimum}`, maximum === undefined ? "" : `at most ${maximum}`];
  return [
    describeSchemaType(document, schema),
    describeEnum(whole),
    ...(minimum !== undefined && maximum !== undefined ? [`${minimum} to ${maximum}`] : range),
    maxLength === undefined ? "" : `at most ${maxLength} characters`,
    describeDefault(whole),
  ]
    .filter((part) => part !== "")
    .join(", ");
}

function escapePipes(text: string): string {
  return text.replaceAll("|", "\\|");
}

function renderSchema(document: OpenApiDocument, schema: OpenApiSchemaObject | undefined, example: unknown): string[] {
  if (schema === undefined) return [];
  const shown = example ?? resolveSchema(document, schema).example;
  const fields = renderFieldLines(document, schema, { indent: "", seen: [] });
  return [
    ...(fields.length > 0 ? [fields.join("\n")] : []),
    ...(shown === undefined || typeof shown === "string" ? [] : ["Example:", createJsonBlock(shown)]),
  ];
}

interface FieldPosition {
  indent: string;
  /** The `$ref`s of the enclosing schemas. A schema in this list is not rendered again, to avoid endless recursion. */
  seen: string[];
}

function renderFieldLines(
  document: OpenApiDocument,
  schema: OpenApiSchemaObject,
  { indent, seen }: FieldPosition,
): string[] {
  if (schema.$ref !== undefined && seen.includes(schema.$ref)) return [];
  const below = schema.$ref === undefined ? seen : [...seen, schema.$ref];
  const { properties = {}, required = [], items, allOf = [], anyOf = [], oneOf = [] } = resolveSchema(document, schema);
  const lines = Object.entries(properties).flatMap(([name, field]) => {
    const whole = { ...resolveSchema(document, field), ...field };
    const about = [
      describeSchemaType(document, field),
      required.includes(name) ? "required" : "",
      describeEnum(whole),
      describeDefault(whole),
    ];
    const line = `${indent}- \`${name}\` (${about.filter((part) => part !== "").join(", ")}): ${whole.description ?? ""}`;
    return [line.trimEnd(), ...renderFieldLines(document, field, { indent: `${indent}  `, seen: below })];
  });
  const parts = [...(items ? [items] : []), ...allOf, ...anyOf, ...oneOf];
  return [...lines, ...parts.flatMap((part) => renderFieldLines(document, part, { indent, seen: below }))];
}

function describeSchemaType(document: OpenApiDocument, schema: OpenApiSchemaObject): string {
  const { type, items, format, anyOf, oneOf } = resolveSchema(document, schema);
  if (items) return `list of ${describeSchemaType(document, items)}`;
  const choices = anyOf ?? oneOf;
  if (choices) return [...new Set(choices.map((choice) => describeSchemaType(document, choice)))].join(" or ");
  const name = [type ?? "any"].flat().join(" or ");
  return format === undefined ? name : `${name}, ${format}`;
}

function describeEnum({ enum: ownChoices, anyOf = [] }: OpenApiSchemaObject): string {
  // A nullable enumeration is any of the enumeration and null.
  const choices = ownChoices ?? anyOf.find((choice) => choice.enum)?.enum;
  if (choices === undefined) return "";
  // The type already states whether the value can be null.
  const values = choices.filter((choice) => choice !== null);
  const shown = values.slice(0, 30).join(", ");
  return `one of ${shown}${values.length > 30 ? `, and ${values.length - 30} more` : ""}`;
}

/** Returns the default value, such as `default 10`. The default `null` is omitted, because the type contains it. */
function describeDefault({ default: value }: OpenApiSchemaObject): string {
  if (value === undefined || value === null) return "";
  return `default ${typeof value === "string" ? value : JSON.stringify(value)}`;
}

function resolveSchema(document: OpenApiDocument, schema: OpenApiSchemaObject): OpenApiSchemaObject {
  const name = schema.$ref?.replace("#/components/schemas/", "");
  return name === undefined ? schema : (document.components.schemas[name] ?? {});
}

function createJsonBlock(value: unknown): string {
  return `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``;
}
