import { renderInline } from "./document.mjs";

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
const maxShownItems = 1_000;
const maxShownNumber = 10_000;

/** A schema with at most this number of fields is listed again instead of linked. */
const maxRepeatedFields = 3;

/**
 * Returns functions that list the fields of schemas for one page. The fields of a schema are listed once on the page;
 * later occurrences refer to the first.
 * @param {Record<string, any>} schemas the schemas of the document by name
 */
export function createFieldReader(schemas) {
  /** @type {Map<string, string>} the anchor of the first field with the schema, by the kind of body and schema name */
  const listed = new Map();
  /** The schemas around the current field. A schema in this set contains itself. */
  const enclosing = new Set();

  /**
   * @param {string} id
   * @param {Record<string, any>} schema
   * @param {{ name: string; required: boolean; isRequest: boolean }} options
   * @returns {Field}
   */
  function describeField(id, schema, { name, required, isRequest }) {
    const resolved = resolve(schema);
    const description = schema.description ?? resolved.description;
    const values = enumValues(resolved);
    const limits = isRequest ? describeLimits(resolved) : [];
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
    const { name, schema: object } = contentOf(schema);
    if (object === undefined) return {};
    if (name === undefined) return describeObject(id, object, isRequest);
    const key = `${isRequest} ${name}`;
    const first = listed.get(key);
    const isSmall = Object.keys(object.properties ?? {}).length <= maxRepeatedFields && !object.anyOf;
    // Whole bodies are always listed, so that the page shows each of them.
    if (first !== undefined && id.includes(".") && (!isSmall || enclosing.has(name))) return { sameAs: first };
    if (first === undefined) listed.set(key, id);
    enclosing.add(name);
    const content = describeObject(id, object, isRequest);
    enclosing.delete(name);
    return content;
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
    const { properties = {}, required = [] } = resolve(object);
    return Object.entries(properties).map(([name, property]) =>
      describeField(`${id}.${name}`, property, { name, required: isRequest && required.includes(name), isRequest }),
    );
  }

  /** Returns the object schema below lists, maps and nullable alternatives, with its name in the document. */
  function contentOf(/** @type {any} */ schema) {
    const name = schema.$ref?.replace("#/components/schemas/", "");
    const resolved = resolve(schema);
    const { items, additionalProperties } = resolved;
    if (items) return contentOf(items);
    const choices = alternatives(resolved).filter((choice) => !isNull(choice));
    if (choices.length === 1 && choices[0] !== resolved) return contentOf(choices[0]);
    if (choices.length > 1) return choices.some(hasProperties) ? { name, schema: resolved } : {};
    if (resolved.properties) return { name, schema: resolved };
    if (additionalProperties && typeof additionalProperties === "object") return contentOf(additionalProperties);
    return {};
  }

  function objectVariants(/** @type {any} */ schema) {
    return alternatives(schema)
      .filter((choice) => hasProperties(choice))
      .map((choice) => ({ label: choice.$ref?.replace("#/components/schemas/", ""), schema: choice }));
  }

  function hasProperties(/** @type {any} */ schema) {
    return resolve(schema).properties !== undefined;
  }

  function describeType(/** @type {any} */ schema) {
    const { words, isNullable } = typeWords(schema);
    return [...words, ...(isNullable ? ["null"] : [])].join(" or ");
  }

  /** @returns {{ words: string[]; isNullable: boolean }} */
  function typeWords(/** @type {any} */ schema) {
    const resolved = resolve(schema);
    const choices = alternatives(resolved);
    if (choices.length > 1 || choices[0] !== resolved) {
      const described = choices.filter((choice) => !isNull(choice)).map(typeWords);
      const isNullable = choices.some(isNull) || described.some((each) => each.isNullable);
      return { words: [...new Set(described.flatMap((each) => each.words))], isNullable };
    }
    const types = [resolved.type ?? "any value"].flat();
    const words = types.filter((type) => type !== "null").map((type) => typeWord(type, resolved));
    return { words, isNullable: types.includes("null") };
  }

  function typeWord(
    /** @type {string} */ type,
    /** @type {any} */ { format, items, properties, additionalProperties },
  ) {
    if (type === "array" && items) return `list of ${typeWords(items).words.map(plural).join(" or ")}`;
    if (type === "object" && !properties && additionalProperties && Object.keys(additionalProperties).length > 0)
      return `map of ${typeWords(additionalProperties).words.map(plural).join(" or ")}`;
    return type === "string" ? (formatNames[/** @type {keyof typeof formatNames} */ (format)] ?? "string") : type;
  }

  function resolve(/** @type {any} */ schema) {
    return schema.$ref === undefined
      ? schema
      : resolve(schemas[schema.$ref.replace("#/components/schemas/", "")] ?? {});
  }

  function enumValues(/** @type {any} */ schema) {
    const { items } = schema;
    const choices = schema.enum ?? (items && resolve(items).enum) ?? [];
    return choices.filter((/** @type {unknown} */ value) => value !== null).map(String);
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
  if (isShownMaximum) limits.push(`${minimum} to ${maximum}`);
  else if (minimum > 0) limits.push(`at least ${minimum}`);
  if (maxLength <= maxShownLength)
    limits.push(minLength > 1 ? `${minLength} to ${maxLength} characters` : `up to ${maxLength} characters`);
  if (maxItems <= maxShownItems)
    limits.push(minItems > 0 ? `${minItems} to ${maxItems} items` : `up to ${maxItems} items`);
  if (["string", "number", "boolean"].includes(typeof preset) && preset !== "") limits.push(`default \`${preset}\``);
  return limits.map(renderInline);
}
