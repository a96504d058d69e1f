/** Writes bodies of one order each, like the template but for the id and the revision hash of the order. */
export function createOrderCopier(template: string): (copy: { id: string; revisionHash: string }) => string {
  const { id, revisionHash } = JSON.parse(template) as { id: string; revisionHash: string };
  const parts = template.split(new RegExp(`(${id}|${revisionHash})`));
  return (copy) => {
    const order = parts.map((part) => (part === id ? copy.id : part === revisionHash ? copy.revisionHash : part));
    return `[${order.join("")}]`;
  };
}
