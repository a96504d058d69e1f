import type { ReactNode } from "react";
import { FieldContent } from "../../reference/FieldList.tsx";
import type { OperationPageData } from "../../reference/page-data.ts";
import { Section } from "../../reference/Section.tsx";
import styles from "../../reference/section.module.css";

interface Props {
  title: string;
  body: NonNullable<OperationPageData["body"]>;
}

/** Renders the fields of a request body. The original renders them only in the browser. */
export default function RequestSchema({ title, body }: Props): ReactNode {
  return (
    <Section id="body" title={title}>
      <p className={styles.summary}>
        <code>{body.mediaType}</code> {body.type}
        {!body.isRequired && ", optional"}
      </p>
      <FieldContent content={body} />
    </Section>
  );
}
