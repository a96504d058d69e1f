import ThemedImage from "@theme/ThemedImage";
import type { CSSProperties, ReactNode } from "react";
import sizes from "../../diagrams/sizes.json";
import styles from "./diagram.module.css";

interface DiagramProps {
  /** The name of the source file in `diagrams`, without its extension. */
  name: keyof typeof sizes;
  /** A description of the diagram for screen readers. */
  alt: string;
}

/**
 * Renders a diagram in the color mode of the page. The size of the image is set, so that the text below it does not
 * move when the image loads.
 */
export function Diagram({ name, alt }: DiagramProps): ReactNode {
  const { width, height } = sizes[name];
  const drawingPath = (mode: "light" | "dark") => `/diagrams/${name}.${mode}.svg`;
  return (
    <figure className={styles.diagram} style={{ "--diagram-width": `${width}px` } as CSSProperties}>
      <ThemedImage
        alt={alt}
        width={width}
        height={height}
        loading="lazy"
        sources={{ light: drawingPath("light"), dark: drawingPath("dark") }}
      />
    </figure>
  );
}
