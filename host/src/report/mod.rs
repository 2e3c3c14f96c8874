//! What people read: terminal tables and progress lines.
