import type { ReactNode } from "react";

/** A link to the OpenAPI document. The theme's own link works only with a mouse. */
export default function Export({ url }: { url: string }): ReactNode {
  return (
    <p>
      <a className="button button--sm button--secondary" href={url} download="pragma-openapi.json">
        Download the OpenAPI document
      </a>
    </p>
  );
}
