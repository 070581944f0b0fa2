// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// Calls several contracts in one transaction.
contract Caller {
    function run(address[] calldata to, bytes[] calldata data) external {
        for (uint256 i = 0; i < to.length; i++) {
            (bool ok,) = to[i].call(data[i]);
            require(ok, "call failed");
        }
    }
}

/// Stands at an account as EIP-7702 would put it there, and knows nothing of ERC-1271.
contract PlainDelegate {
    function hello() external pure returns (uint256) {
        return 1;
    }
}

/// An ERC-1271 account whose owner's word counts only where nobody pays for gas, which is in a simulation.
contract SimulationOnlyWallet {
    function isValidSignature(bytes32, bytes calldata) external view returns (bytes4) {
        return tx.gasprice == 0 ? this.isValidSignature.selector : bytes4(0);
    }
}

/// Emits the events of EIP-3009 in the order no known token has: the transfer first.
contract BackwardToken {
    event Transfer(address indexed from, address indexed to, uint256 value);
    event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce);

    function authorized(address from, address to, uint256 value, bytes32 nonce) external {
        emit Transfer(from, to, value);
        emit AuthorizationUsed(from, nonce);
    }

    function plain(address from, address to, uint256 value) external {
        emit Transfer(from, to, value);
    }
}

/// Answers false instead of moving anything.
contract FalseToken {
    uint8 public constant decimals = 6;

    function balanceOf(address) external pure returns (uint256) {
        return type(uint128).max;
    }

    function transfer(address, uint256) external pure returns (bool) {
        return false;
    }
}

/// Keeps allowances where a compiler of another language puts them: the key after the slot.
contract VyperLikeToken {
    function allowance(address owner, address spender) external view returns (uint256 value) {
        bytes32 slot = keccak256(abi.encode(keccak256(abi.encode(uint256(3), owner)), spender));
        assembly {
            value := sload(slot)
        }
    }
}

/// Keeps allowances in OpenZeppelin's namespace for upgradeable tokens.
contract NamespacedToken {
    /// @custom:storage-location erc7201:openzeppelin.storage.ERC20
    struct Storage {
        mapping(address account => uint256) balances;
        mapping(address account => mapping(address spender => uint256)) allowances;
    }

    function allowance(address owner, address spender) external view returns (uint256) {
        Storage storage s;
        bytes32 at =
            keccak256(abi.encode(uint256(keccak256("openzeppelin.storage.ERC20")) - 1)) & ~bytes32(uint256(0xff));
        assembly {
            s.slot := at
        }
        return s.allowances[owner][spender];
    }
}

/// A Permit2 token whose allowances are where nobody would look.
contract HiddenToken {
    uint8 public constant decimals = 6;
    mapping(address account => uint256) public balanceOf;
    mapping(bytes32 key => uint256) private _allowed;

    event Transfer(address indexed from, address indexed to, uint256 value);

    function mint(address to, uint256 value) external {
        balanceOf[to] += value;
    }

    function allowance(address owner, address spender) public view returns (uint256) {
        return _allowed[keccak256(abi.encode("hidden", owner, spender))];
    }

    function approve(address spender, uint256 value) external {
        _allowed[keccak256(abi.encode("hidden", msg.sender, spender))] = value;
    }

    function transferFrom(address from, address to, uint256 value) external {
        require(allowance(from, msg.sender) >= value);
        require(balanceOf[from] >= value);
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }
}
