/**
 * The fields of tills and orders that say who ordered, and where it was brought to: what is erased when that is asked
 * for or its time has come, and what no log may hold. Every one of them may be null. None is an amount, a date, a number
 * or a product: fiscal figures stand without them.
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

/** The value with every personal field in it null, at any depth. What holds none is given back as it is. */
export function redactPersonalData<Value>(value: Value): Value {
  return isObject(value) ? (replaceFields(value, personalDataFields, null) as Value) : value;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/**
 * Returns the object or list with every field of these names replaced, in so many levels of it. What holds none is given
 * back as it is. Errors in it are not looked into.
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
    let kept = field;
    if (names.has(name)) kept = replacement;
    else if (isObject(field) && levels > 1 && !(field instanceof Error))
      kept = replaceFields(field, names, replacement, levels - 1);
    if (kept === field) continue;
    copy ??= (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>;
    copy[name] = kept;
  }
  return copy ?? value;
}
