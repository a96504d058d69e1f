import Heading from "@theme/Heading";
import type { ReactNode } from "react";
import styles from "./section.module.css";

/** Renders a heading and its content as siblings, because the search assigns texts to the heading before them. */
export function Section({ id, title, children }: { id: string; title: string; children: ReactNode }): ReactNode {
  return (
    <>
      <Heading as="h2" id={id} className={styles.heading}>
        {title}
      </Heading>
      <div>{children}</div>
    </>
  );
}
