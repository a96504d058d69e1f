import Link from "@docusaurus/Link";
import Heading from "@theme/Heading";
import type { ReactNode } from "react";
import { Html } from "./Html.tsx";
import styles from "./introduction.module.css";
import type { ReferenceIntroductionData } from "./page-data.ts";

/** Renders the first page of a reference: an introduction, and a card with the operations of each resource. */
export function ReferenceIntroduction({ page }: { page: ReferenceIntroductionData }): ReactNode {
  const { title, summary, notes, documentPath, cards } = page;
  return (
    <>
      <Heading as="h1">{title}</Heading>
      <Html className={styles.introduction} html={summary} />
      <p>
        <a className="button button--secondary" href={documentPath} download="pragma-openapi.json">
          Download the OpenAPI document
        </a>
      </p>
      <Heading as="h2" id="resources">
        Resources
      </Heading>
      <div className={styles.cards}>
        {cards.map(({ label, description, operations }) => (
          <section key={label} className={styles.card} aria-label={label}>
            <h3>{label}</h3>
            <p>{description}</p>
            <ul>
              {operations.map(({ id, label: name, method }) => (
                <li key={id}>
                  <span className={`method-badge method-badge--${method}`}>{method === "delete" ? "del" : method}</span>
                  {/* Links are relative, because the partners' and the operators' reference have different paths. */}
                  <Link to={`./${id}`}>{name}</Link>
                </li>
              ))}
            </ul>
          </section>
        ))}
      </div>
      <Heading as="h2" id={notes.title.toLowerCase()} className={styles.notes}>
        {notes.title}
      </Heading>
      <Html className={styles.introduction} html={notes.html} />
    </>
  );
}
