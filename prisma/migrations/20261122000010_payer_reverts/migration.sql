-- What the refused transactions of an account have cost lately is asked before each of its captures; they are few.
create index attempt_reverted on attempt (created_at) where reverts > 0;
