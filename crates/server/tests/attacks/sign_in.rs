//! Browser sign-ins and tokens: what a cookie is worth, and how it is revoked.
