/**
 * The fields of tills and orders that say who ordered, and where it was brought to: what is erased when that is asked
 * for or its time has come, and what no log may hold. Every one of them may be null. None is an amount, a date, a number
 * or a product: fiscal figures stand without them.
 */
export const personalFields: ReadonlySet<string> = new Set([
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
export function withoutPersonalData<Value>(value: Value): Value {
  return (Array.isArray(value) ? erasedFromArray(value) : isObject(value) ? erasedFromObject(value) : value) as Value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function erasedFromArray(values: unknown[]): unknown[] {
  const erased = values.map(withoutPersonalData);
  return erased.every((value, index) => value === values[index]) ? values : erased;
}

function erasedFromObject(object: Record<string, unknown>): Record<string, unknown> {
  let erased = object;
  for (const [name, field] of Object.entries(object)) {
    const kept = personalFields.has(name) ? null : withoutPersonalData(field);
    if (kept === field) continue;
    if (erased === object) erased = { ...object };
    erased[name] = kept;
  }
  return erased;
}
