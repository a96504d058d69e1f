/** Returns a function that creates a request body with one order: the template with a new id and revision hash. */
export function createBenchOrderBodyGenerator(
  template: string,
): (copy: { id: string; revisionHash: string }) => string {
  const { id, revisionHash } = JSON.parse(template) as { id: string; revisionHash: string };
  const parts = template.split(new RegExp(`(${id}|${revisionHash})`));
  return (copy) => {
    const order = parts.map((part) => (part === id ? copy.id : part === revisionHash ? copy.revisionHash : part));
    return `[${order.join("")}]`;
  };
}
