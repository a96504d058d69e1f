import ThemedImage from "@theme/ThemedImage";
import type { ReactNode } from "react";
import sizes from "../../diagrams/sizes.json";
import styles from "./diagram.module.css";

interface DiagramProps {
  /** Of its source: `diagrams/<name>.mmd`. */
  name: keyof typeof sizes;
  /** What it shows, in words, for those who do not see it. */
  alt: string;
}

/** A diagram in the colours of the page, as `npm run diagrams` drew it. Its place is kept until it is there. */
export function Diagram({ name, alt }: DiagramProps): ReactNode {
  const { width, height } = sizes[name];
  const drawing = (mode: "light" | "dark") => `/diagrams/${name}.${mode}.svg`;
  return (
    <figure className={styles.diagram}>
      <ThemedImage
        alt={alt}
        width={width}
        height={height}
        loading="lazy"
        sources={{ light: drawing("light"), dark: drawing("dark") }}
      />
    </figure>
  );
}
