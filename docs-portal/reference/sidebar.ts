import type { SidebarsConfig } from "@docusaurus/plugin-content-docs";

type SidebarItems = Extract<SidebarsConfig[string], unknown[]>;

/** Returns the sidebar of a reference from the generated items: with the descriptions of the groups, and legacy folded. */
export function completeReferenceSidebar(
  items: SidebarsConfig[string],
  tags: { name: string; description: string }[],
): SidebarItems {
  const descriptions = new Map(tags.map(({ name, description }) => [name, description]));
  return (items as SidebarItems).map((item) =>
    typeof item === "object" && item.type === "category"
      ? { ...item, description: descriptions.get(item.label), collapsed: item.label === "Legacy" }
      : item,
  );
}
