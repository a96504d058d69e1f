/**
 * The fields of tills and orders that contain personal data of customers. Their values are erased on request or after
 * the retention period, and are never logged. All these fields are nullable, and no fiscal figure depends on them.
 */
export const personalDataFields: ReadonlySet<string> = new Set([
  "buyerCardReceipt",
  "customerId",
  "customerInfo",
  "customerName",
  "customer_identifier",
  "deliveryAddress",
  "deliveryComment",
  "deliveryCustomerInfo",
  "extQoodosUserId",
  "extQoodosUserName",
  "firebaseCustomerName",
  "firebaseCustomerRefKey",
]);

/** Returns the value with all personal data fields, at any depth, set to null; the same value if it has none. */
export function redactPersonalData<Value>(value: Value): Value {
  return isObject(value) ? (replaceNestedFieldsByName(value, personalDataFields, null) as Value) : value;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/**
 * Returns a copy of the object or array in which `replacement` replaces every field with one of the names, down to
 * `levels` nested levels. Returns the same object if it contains no such field. Does not change `Error` objects.
 */
export function replaceNestedFieldsByName(
  value: object,
  names: ReadonlySet<string>,
  replacement: unknown,
  levels = Number.POSITIVE_INFINITY,
): object {
  let copy: Record<string, unknown> | undefined;
  for (const name of Object.keys(value)) {
    const field = (value as Record<string, unknown>)[name];
    let replaced = field;
    if (names.has(name)) replaced = replacement;
    else if (isObject(field) && levels > 1 && !(field instanceof Error))
      replaced = replaceNestedFieldsByName(field, names, replacement, levels - 1);
    if (replaced === field) continue;
    copy ??= (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>;
    copy[name] = replaced;
  }
  return copy ?? value;
}
