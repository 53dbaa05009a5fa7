import { expect, test } from "vitest";
import { OrElse } from "./or-else";

test("what failed is stood in for until something else comes", () => {
  const props = { of: 1, fallback: "instead", children: "itself" };
  const boundary = new OrElse(props);
  expect(boundary.render()).toBe("itself");
  boundary.state = { ...boundary.state, ...OrElse.getDerivedStateFromError() };
  expect(boundary.render()).toBe("instead");
  expect(OrElse.getDerivedStateFromProps(props, boundary.state)).toBeNull();
  expect(OrElse.getDerivedStateFromProps({ ...props, of: 2 }, boundary.state)).toEqual({ failed: false, of: 2 });
});
