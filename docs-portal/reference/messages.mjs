import { describeType, enumValues, renderInline } from "./fields.mjs";

/**
 * @typedef {object} MessageField A field of a message or of an object, as a row of a table
 * @property {string} id anchor of the row on the page
 * @property {string} name the path of the field, such as `meta.id`
 * @property {string} type the type in words, such as `list of objects`
 * @property {boolean} isRequired
 * @property {string} description Markdown
 * @property {string} html the description
 * @property {string[]} values the values of an enumeration
 * @property {{ name: string, anchor: string }} [object] the object that the field contains, which has its own table
 */

/**
 * @typedef {object} WebhookMessage
 * @property {string} event
 * @property {string} anchor
 * @property {string} summary
 * @property {string} operation name of the operation that sends the message
 * @property {string} guideUrl path of the guide's section about the event
 * @property {MessageField[]} fields
 * @property {{ headers: Record<string, string>, payload: unknown }} example
 */

const schemaPointer = "#/components/schemas/";

/**
 * Returns what the page of all webhook messages shows. Named schemas that messages contain are described once, as objects
 * to which the fields refer.
 * @param {Record<string, any>} document the AsyncAPI document
 */
export function describeWebhookMessages({ info, servers, channels, operations, components }) {
  const { schemas, messages, securitySchemes } = components;
  /** @type {Map<string, { name: string, anchor: string, description: string, fields: MessageField[] }>} */
  const objects = new Map();

  /** @param {any} schema @returns {{ schema: any, name?: string }} the schema, and its name if it has one */
  function resolve(schema) {
    const name = schema.$ref?.replace(schemaPointer, "");
    if (name !== undefined) return { schema: { ...schemas[name], ...schema, $ref: undefined }, name };
    if (schema.items === undefined) return { schema };
    const items = resolve(schema.items);
    return { schema: { ...schema, items: items.schema }, ...(items.name !== undefined && { name: items.name }) };
  }

  /**
   * Returns the rows of the properties of a schema, and of the objects without a name within them.
   * @param {any} schema
   * @param {{ place: string, path?: string }} options `place` is the beginning of the anchors
   * @returns {MessageField[]}
   */
  function listFields({ properties = {}, required = [] }, { place, path = "" }) {
    return Object.entries(properties).flatMap(([property, unresolved]) => {
      const name = `${path}${property}`;
      const { schema, name: objectName } = resolve(unresolved);
      const content = schema.items ?? schema;
      if (objectName !== undefined) describeObject(objectName);
      const { description = "" } = schema;
      const row = {
        id: `${place}.${name}`,
        name,
        type: describeType(schema),
        isRequired: required.includes(property),
        description,
        html: renderInline(description),
        values: enumValues(schema),
        ...(objectName !== undefined && { object: { name: objectName, anchor: toAnchor(objectName) } }),
      };
      return [row, ...(objectName === undefined ? listFields(content, { place, path: `${name}.` }) : [])];
    });
  }

  function describeObject(/** @type {string} */ name) {
    if (objects.has(name)) return;
    const { description = "" } = schemas[name];
    const object = { name, anchor: toAnchor(name), description, fields: /** @type {MessageField[]} */ ([]) };
    objects.set(name, object);
    object.fields = listFields(schemas[name], { place: object.anchor });
  }

  const described = Object.entries(operations).map(([operation, { messages: sent }]) => {
    const message = messages[sent[0].$ref.split("/").at(-1)];
    const anchor = message.name.replaceAll(".", "-");
    return {
      event: message.name,
      anchor,
      summary: message.summary,
      operation,
      guideUrl: new URL(message.externalDocs.url).pathname + new URL(message.externalDocs.url).hash,
      fields: listFields(resolve(message.payload).schema, { place: anchor }),
      example: message.examples[0],
    };
  });
  return {
    info,
    server: servers.endpoint,
    channel: channels.endpoint,
    signatures: Object.values(securitySchemes),
    headers: listFields(schemas.WebhookMessageHeaders, { place: "header" }),
    messages: /** @type {WebhookMessage[]} */ (described),
    objects: [...objects.values()],
  };
}

/** @param {string} name @returns {string} the anchor of an object, such as `webhook-order` for `WebhookOrder` */
function toAnchor(name) {
  return name.replace(/(?<=[a-z])(?=[A-Z])/g, "-").toLowerCase();
}
