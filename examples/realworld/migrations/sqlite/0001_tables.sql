CREATE TABLE users (
  id INTEGER PRIMARY KEY,
  username TEXT NOT NULL UNIQUE,
  email TEXT NOT NULL UNIQUE,
  password TEXT NOT NULL,
  bio TEXT,
  image TEXT
);
CREATE TABLE follows (
  follower_id INTEGER NOT NULL REFERENCES users,
  followed_id INTEGER NOT NULL REFERENCES users,
  PRIMARY KEY (follower_id, followed_id)
);
CREATE TABLE articles (
  id INTEGER PRIMARY KEY,
  slug TEXT NOT NULL UNIQUE,
  title TEXT NOT NULL,
  description TEXT NOT NULL,
  body TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  author_id INTEGER NOT NULL REFERENCES users
);
CREATE TABLE tags (
  article_id INTEGER NOT NULL REFERENCES articles ON DELETE CASCADE,
  tag TEXT NOT NULL,
  PRIMARY KEY (article_id, tag)
);
CREATE TABLE favorites (
  user_id INTEGER NOT NULL REFERENCES users,
  article_id INTEGER NOT NULL REFERENCES articles ON DELETE CASCADE,
  PRIMARY KEY (user_id, article_id)
);
CREATE TABLE comments (
  id INTEGER PRIMARY KEY,
  body TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  author_id INTEGER NOT NULL REFERENCES users,
  article_id INTEGER NOT NULL REFERENCES articles ON DELETE CASCADE
);
CREATE INDEX articles_by_time ON articles (created_at DESC, id DESC);
CREATE INDEX tags_by_tag ON tags (tag);
CREATE INDEX comments_by_article ON comments (article_id);
