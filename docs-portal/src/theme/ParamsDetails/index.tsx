import type { ReactNode } from "react";
import { FieldList } from "../../reference/FieldList.tsx";
import type { OperationPageData } from "../../reference/page-data.ts";
import { Section } from "../../reference/Section.tsx";

/** Renders the parameters of an operation. The original renders them only in the browser. */
export default function ParamsDetails({ parameterGroups }: Pick<OperationPageData, "parameterGroups">): ReactNode {
  return parameterGroups.map(({ title, fields }) => (
    <Section key={title} id={title.toLowerCase().replace(" ", "-")} title={title}>
      <FieldList fields={fields} depth={1} />
    </Section>
  ));
}
