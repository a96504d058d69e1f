import Link from "@docusaurus/Link";
import type { PropSidebarItem, PropSidebarItemLink } from "@docusaurus/plugin-content-docs";
import { useDocsSidebar } from "@docusaurus/plugin-content-docs/client";
import type { ReactNode } from "react";
import styles from "./cards.module.css";

/** Renders a card for each group of the sidebar, with the operations of the group. */
export function ResourceCards(): ReactNode {
  const groups = (useDocsSidebar()?.items ?? []).filter((item) => item.type === "category");
  return (
    <div className={styles.cards}>
      {groups.map(({ label, description, items }) => (
        <section key={label} className={styles.card} aria-label={label}>
          <h3>{label}</h3>
          <p>{description}</p>
          <ul>
            {items.filter(isLink).map(({ href, label: name, customProps }) => (
              <li key={href}>
                {customProps?.method !== undefined && <MethodBadge method={String(customProps.method)} />}
                <Link to={href}>{name}</Link>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </div>
  );
}

function MethodBadge({ method }: { method: string }): ReactNode {
  return <span className={`method-badge method-badge--${method}`}>{method === "delete" ? "del" : method}</span>;
}

function isLink(item: PropSidebarItem): item is PropSidebarItemLink {
  return item.type === "link";
}
