/** Returns a function that creates a value when it is first needed. */
export function createOnce<Value>(create: () => Value): () => Value {
  let value: Value | undefined;
  return () => {
    value ??= create();
    return value;
  };
}
