/** Returns a function that creates a body of one order: the template with another id and revision hash. */
export function createOrderBodyCopier(template: string): (copy: { id: string; revisionHash: string }) => string {
  const { id, revisionHash } = JSON.parse(template) as { id: string; revisionHash: string };
  const parts = template.split(new RegExp(`(${id}|${revisionHash})`));
  return (copy) => {
    const order = parts.map((part) => (part === id ? copy.id : part === revisionHash ? copy.revisionHash : part));
    return `[${order.join("")}]`;
  };
}
