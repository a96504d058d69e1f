import { micromark } from "micromark";

/**
 * @typedef {object} Field A field of a body, or a parameter, as the reference shows it
 * @property {string} id anchor of the field on the page
 * @property {string} name
 * @property {string} type the type in words, such as `list of objects`
 * @property {boolean} [required] whether a request must contain the field
 * @property {string} [html] the description
 * @property {string[]} [values] the values of an enumeration
 * @property {string[]} [limits] limits and defaults that matter to callers
 * @property {Field[]} [fields] the fields of the object, or of each object in the list
 * @property {{ label: string; fields: Field[] }[]} [variants] the alternatives, if the object has several forms
 * @property {string} [sameAs] anchor of the field on this page that has the same fields
 */

/** Words for string formats. Other formats are not shown. */
const formatNames = { uuid: "UUID", "date-time": "date-time", date: "date", uri: "URL" };

/** Longer limits than these protect the API, but say nothing to callers. The OpenAPI document contains all limits. */
const maxShownLength = 255;
const maxShownItems = 20_000;
const maxShownNumber = 10_000;

/** A schema with at most this number of fields is listed again instead of linked. */
const maxRepeatedFields = 3;

/**
 * Returns functions that list the fields of schemas for one page. The fields of a schema are listed once on the page;
 * later occurrences refer to the first. The plugin has replaced references in schemas by the schemas themselves, whose
 * titles are their names. A schema that contains itself is the text `circular(name)` there.
 */
export function createFieldReader() {
  /** @type {Map<string, string>} the anchor of the first field with the schema, by the kind of body and schema name */
  const listed = new Map();
  /**
   * @param {string} id
   * @param {Record<string, any>} schema
   * @param {{ name: string; required: boolean; isRequest: boolean }} options
   * @returns {Field}
   */
  function describeField(id, schema, { name, required, isRequest }) {
    const { description } = schema;
    const values = enumValues(schema);
    const limits = isRequest ? describeLimits(schema) : [];
    return {
      id,
      name,
      type: describeType(schema),
      ...(required && { required }),
      ...(description && { html: renderInline(description) }),
      ...(values.length > 0 && { values }),
      ...(limits.length > 0 && { limits }),
      ...describeContent(id, schema, isRequest),
    };
  }

  /** Returns the fields of an object, of the items of a list, or of the values of a map. */
  function describeContent(/** @type {string} */ id, /** @type {any} */ schema, /** @type {boolean} */ isRequest) {
    const object = contentOf(schema);
    if (object === undefined) return {};
    const name = circularName(object) ?? object.title;
    if (name === undefined) return describeObject(id, object, isRequest);
    const key = `${isRequest} ${name}`;
    const first = listed.get(key);
    const isSmall = Object.keys(object.properties ?? {}).length <= maxRepeatedFields && !object.anyOf;
    // Whole bodies are always listed, so that the page shows each of them.
    if (first !== undefined && id.includes(".") && (!isSmall || typeof object === "string")) return { sameAs: first };
    if (first === undefined) listed.set(key, id);
    return describeObject(id, object, isRequest);
  }

  function describeObject(/** @type {string} */ id, /** @type {any} */ object, /** @type {boolean} */ isRequest) {
    const variants = objectVariants(object);
    if (variants.length > 1)
      return {
        variants: variants.map((variant, index) => ({
          label: variant.label ?? `Form ${index + 1}`,
          fields: describeProperties(`${id}.${variant.label ?? index}`, variant.schema, isRequest),
        })),
      };
    const fields = describeProperties(id, variants[0]?.schema ?? object, isRequest);
    return fields.length > 0 ? { fields } : {};
  }

  function describeProperties(/** @type {string} */ id, /** @type {any} */ object, /** @type {boolean} */ isRequest) {
    const { properties = {}, required = [] } = object;
    return Object.entries(properties).map(([name, property]) =>
      describeField(`${id}.${name}`, property, { name, required: isRequest && required.includes(name), isRequest }),
    );
  }

  return {
    /** Returns a parameter or a field of a request. */
    describeField,
    /**
     * Returns the fields of a body, or its alternatives, and its type.
     * @param {string} id
     * @param {Record<string, any>} schema
     * @param {boolean} isRequest
     */
    describeBody(id, schema, isRequest) {
      const content = describeContent(id, schema, isRequest);
      return { id, type: describeType(schema), ...content };
    },
  };
}

/** @param {any} schema @returns {any} the object schema below lists, maps and nullable alternatives, if there is one */
function contentOf(schema) {
  if (typeof schema === "string") return schema;
  const { items, properties, additionalProperties } = schema;
  if (items) return contentOf(items);
  const choices = alternatives(schema).filter((choice) => !isNull(choice));
  if (choices.length === 1 && choices[0] !== schema) return contentOf(choices[0]);
  if (choices.length > 1) return choices.some(hasProperties) ? schema : undefined;
  if (properties) return schema;
  return additionalProperties && typeof additionalProperties === "object" ? contentOf(additionalProperties) : undefined;
}

/** @param {any} schema @returns {string | undefined} the name of the schema around this schema, if both are the same */
function circularName(schema) {
  return /^circular\((.+)\)$/.exec(typeof schema === "string" ? schema : "")?.[1];
}

/** @param {any} schema */
function objectVariants(schema) {
  return alternatives(schema)
    .filter(hasProperties)
    .map((choice) => ({ label: choice.title, schema: choice }));
}

/** @param {any} schema */
function hasProperties({ properties }) {
  return properties !== undefined;
}

/** @param {any} schema @returns {string} the type in words, such as `list of objects or null` */
export function describeType(schema) {
  const { words, isNullable } = typeWords(schema);
  return [...words, ...(isNullable ? ["null"] : [])].join(" or ");
}

/** @param {any} schema @returns {{ words: string[]; isNullable: boolean }} */
function typeWords(schema) {
  if (typeof schema === "string") return { words: ["object"], isNullable: false };
  const choices = alternatives(schema);
  if (choices.length > 1 || choices[0] !== schema) {
    const described = choices.filter((choice) => !isNull(choice)).map(typeWords);
    const isNullable = choices.some(isNull) || described.some((each) => each.isNullable);
    return { words: [...new Set(described.flatMap((each) => each.words))], isNullable };
  }
  const types = [schema.type ?? "any value"].flat();
  const words = types.filter((type) => type !== "null").map((type) => typeWord(type, schema));
  return { words, isNullable: types.includes("null") };
}

/** @param {string} type @param {any} schema */
function typeWord(type, { format, items, properties, additionalProperties }) {
  if (type === "array" && items) return `list of ${typeWords(items).words.map(plural).join(" or ")}`;
  if (type === "object" && !properties && additionalProperties && Object.keys(additionalProperties).length > 0)
    return `map of ${typeWords(additionalProperties).words.map(plural).join(" or ")}`;
  return type === "string" ? (formatNames[/** @type {keyof typeof formatNames} */ (format)] ?? "string") : type;
}

/** @param {any} schema @returns {string[]} the values of an enumeration, except null */
export function enumValues(schema) {
  const content = schema.items ?? schema;
  return alternatives(content)
    .flatMap((choice) => choice.enum ?? [])
    .filter((value) => value !== null)
    .map(String);
}

/** @param {any} schema @returns {any[]} the alternatives of a schema, or the schema itself if it has none */
function alternatives(schema) {
  return schema.anyOf ?? schema.oneOf ?? [schema];
}

/** @param {any} schema */
function isNull({ type }) {
  return type === "null";
}

/** @param {string} word */
function plural(word) {
  return word.startsWith("list") || word.startsWith("map") || word === "any value" ? word : `${word}s`;
}

/**
 * Returns the limits and the default of a field of a request, in words.
 * @param {any} schema
 */
function describeLimits({ minimum = 0, maximum, minLength = 0, maxLength, maxItems, minItems = 0, default: preset }) {
  const isShownMaximum = maximum !== undefined && maximum <= maxShownNumber;
  const limits = [];
  if (isShownMaximum) limits.push(`${minimum} to ${formatNumber(maximum)}`);
  else if (minimum > 0) limits.push(`at least ${minimum}`);
  if (maxLength <= maxShownLength)
    limits.push(minLength > 1 ? `${minLength} to ${maxLength} characters` : `up to ${maxLength} characters`);
  if (maxItems <= maxShownItems)
    limits.push(
      minItems > 0 ? `${minItems} to ${formatNumber(maxItems)} items` : `up to ${formatNumber(maxItems)} items`,
    );
  if (["string", "number", "boolean"].includes(typeof preset) && preset !== "") limits.push(`default \`${preset}\``);
  return limits.map(renderInline);
}

/** @param {number} value */
function formatNumber(value) {
  return value.toLocaleString("en");
}

/** The maximum length of a token that stays on one line, as in `src/theme/CodeInline`. */
const maxShortTokenLength = 26;

/**
 * @param {string} text
 * @returns {string} the Markdown text of one paragraph as HTML, in which a short token of inline code stays on one line
 */
export function renderInline(text) {
  const html = micromark(text, { extensions: [{ disable: { null: ["list"] } }] }).replace(/^<p>|<\/p>$/g, "");
  return html.replace(/<code>(.*?)<\/code>/gs, (code, token) =>
    token.replace(/&\w+;/g, "_").length <= maxShortTokenLength ? code.replace(">", ' class="short-token">') : code,
  );
}
