/**
 * The fields of tills and orders that contain personal data of customers. They are erased on request or after the
 * retention period, and never logged. All of them are nullable, and none affects fiscal figures.
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

/** Returns the value with every personal field set to null, at any depth. A value without any is returned itself. */
export function redactPersonalData<Value>(value: Value): Value {
  return isObject(value) ? (replaceFields(value, personalDataFields, null) as Value) : value;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/**
 * Returns the object or array with every field of these names replaced, up to `levels` deep. A value without such fields
 * is returned itself. Does not descend into errors.
 */
export function replaceFields(
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
      replaced = replaceFields(field, names, replacement, levels - 1);
    if (replaced === field) continue;
    copy ??= (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>;
    copy[name] = replaced;
  }
  return copy ?? value;
}
