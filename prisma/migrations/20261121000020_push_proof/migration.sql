-- A buyer's proof of ownership where the buyer's own wallet sends the money and no attempt is made.
alter table push_tx add column proof text;
